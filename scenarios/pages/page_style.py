"""Style that the pages of results have in common: widths, headings, paper."""

PAGE_STYLE = """
body { max-width: 80rem; } body > p, body > pre, body > ul { max-width: 64rem; } p { margin: 0.5rem 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; } h3 { font-size: 1rem; margin: 1.2rem 0 0.3rem; }
.answer { font-size: 1.15rem; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
h1, p, td, th, summary, label { overflow-wrap: anywhere; } td, th { overflow-wrap: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 0.5rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.skip:not(:focus) { position: absolute; left: -100rem; }
summary { cursor: pointer; margin: 0.5rem 0; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 36rem), 1fr)); gap: 1.5rem; }
.side > * { min-width: 0; } #forms td:last-child { min-width: 11rem; }
#bottleneck { min-height: 6em; }
/* Shadows at the sides of tables, as far as there is more to scroll to. */
.table { background: linear-gradient(to right, var(--page) 2rem, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--page) 2rem, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--rule), transparent) left / 0.8rem 100% no-repeat scroll,
  linear-gradient(to left, var(--rule), transparent) right / 0.8rem 100% no-repeat scroll; }
@media (max-width: 40rem) { table { font-size: 0.8rem; } th, td { padding-right: 0.7rem; }
  .scroll::before { content: "Scroll the map sideways: \\2194"; position: sticky; left: 0; display: block;
    color: var(--quiet); font-size: 0.9rem; }
  caption { max-width: calc(100vw - 2rem); } dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4rem; }
  body { margin: 1rem auto; } }
@media print {
  :root { color-scheme: light; } body { max-width: none; font-size: 11pt; margin: 0; }
  .onscreen, .slider, fieldset, #told, .scroll { display: none !important; }
  .onpaper { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; } .table, pre { overflow: visible; }
  table { font-size: 8pt; } th, td { padding-right: 0.6rem; }
  figure, tr { break-inside: avoid; }
}
"""
