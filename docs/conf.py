"""Sphinx: pages in Markdown (MyST), the API from numpydoc docstrings."""

from importlib.metadata import version as installed_version

project = "silosim"
author = "The silosim developers"
release = version = installed_version("silosim")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autosummary_generate = True
# A package's `__all__` says what is public, wherever it is defined.
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
default_role = "code"

html_theme = "furo"
html_title = "silosim"
html_show_copyright = False
html_show_sourcelink = False
