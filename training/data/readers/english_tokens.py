"""English text as words and marks, by the rules of spaCy's tokenizer for English.

A piece of text between blanks is taken apart from both ends: marks are cut off as long as there are any, unless what
is left is an exception (``don't`` is ``do`` and ``n't``), then it is cut at marks within. Emoticons that were cut are
put together again. Rules and exceptions are those of spaCy 3.8.18 (MIT, see ``data/ATTRIBUTION.md``), which need no
statistical model; classes of characters come from Python's Unicode tables instead of spaCy's lists.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

Words = tuple[str, ...]

_PRONOUNS = ("i", "you", "he", "she", "it", "we", "they")
_QUESTIONS = ("who", "what", "when", "where", "why", "how", "there")
_NEGATED = "ca could do does did had may might must need ought sha should wo would"
_NEGATED_ALONE = "ai are is was were have has dare"
_ALONE = (
    "doin goin nothin nuthin ol somethin lovin havin doin' goin' nothin' nuthin' ol' somethin' lovin' havin' ma'am "
    "o'clock"
)
_WHOLE = (
    "em ll nuff 'em 'll 'nuff 's 'S \u2018S \u2018s and/or w/o 're 'cause 'Cause 'cos 'Cos 'coz 'Coz 'cuz 'Cuz "
    "'bout 'd Mt. Ak. Ala. Apr. Ariz. Ark. Aug. Calif. Colo. Conn. Dec. Del. Feb. Fla. Ga. Ia. Id. Ill. Ind. Jan. "
    "Jul. Jun. Kan. Kans. Ky. La. Mar. Mass. Mich. Minn. Miss. N.C. N.D. N.H. N.J. N.M. N.Y. Neb. Nebr. Nev. Nov. "
    "Oct. Okla. Ore. Pa. S.C. Sep. Sept. Tenn. Va. Wash. Wis. a.m. Adm. Bros. co. Co. Corp. D.C. Dr. e.g. E.g. "
    "E.G. Gen. Gov. i.e. I.e. I.E. Inc. Jr. Ltd. Md. Messrs. Mo. Mont. Mr. Mrs. Ms. p.m. Ph.D. Prof. Rep. Rev. "
    "Sen. St. vs. v.s. ' \\\") <space> '' C++ \u2014 \\t \\n \u00e4. \u00f6. \u00fc."
)
_DIVIDED = (
    "y' all|y all|how 'd 'y|How 'd 'y|not 've|not ve|Not 've|Not ve|can not|Can not|gon na|Gon na|got ta|Got ta|let 's|"
    "Let 's|c'm on|C'm on"
)
_WORDS_OF_THEIR_OWN = "ill its hell shell shed were well whore"
_EMOTICONS = r"""
:) :-) :)) :-)) :))) :-))) (: (-: =) (= :] :-] [: [-: [= =] :o) (o: :} :-} 8) 8-) (-8 ;) ;-) (; (-; :( :-( :((
:-(( :((( :-((( ): )-: =( >:( :') :'-) :'( :'-( :/ :-/ =/ =| :| :-| ]= =[ :1 :P :-P :p :-p :O :-O :o :-o :0
:-0 :() >:o :* :-* :3 :-3 =3 :> :-> :X :-X :x :-x :D :-D ;D ;-D =D xD XD xDD XDD 8D 8-D ^_^ ^__^ ^___^ >.< >.>
<.< ._. ;_; -_- -__- v.v V.V v_v V_V o_o o_O O_o O_O 0_o o_0 0_0 o.O O.o O.O o.o 0.0 o.0 0.o @_@ <3 <33 <333
</3 (^_^) (-_-) (._.) (>_<) (*_*) (¬_¬) ಠ_ಠ ಠ︵ಠ (ಠ_ಠ) ¯\(ツ)/¯ (╯°□°）╯︵┻━┻ ><(((*>
"""
_PUNCTUATION = "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪"
_QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉〈〉⟦⟧"
_CURRENCIES = ("US$", "C$", "A$", *"$£€¥฿₽﷼₴₠₡₢₣₤₥₦₧₨₩₪₫₭₮₯₰₱₲₳₵₶₷₸₹₺₻₼₾₿")
_UNITS = (
    "km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s km/h kmh mph hPa Pa "
    "mbar mb MB kb KB gb GB tb TB T G M K %"
)
_ELLIPSES = r"\.\.+|…"
_HYPHENS = "-|–|—|--|---|——|~"
_CASED = (
    "41-5A 61-7A C0-2AF 386-3CE 400-45F 490-4E9 1D00-1D9A 1E00-1EFF 2C60-2C7F A722-A7FA AB30-AB64 FF21-FF5A"
)
_CASELESS = (
    "591-5F4 620-64A 66E-6D5 6E5-6FF 750-77F 8A0-8BD 900-9FF B80-CFF D80-DFF 1100-137F 2E80-30FF 31C0-31EF 3200-4DBF "
    "4E00-9FFF AC00-D7AF F900-FAFF FB1D-FDFB FE30-FE4F FE70-FEFC 20000-2FA1F"
)
_URL = (
    r"(?:[\w+.-]{2,}://)?(?:\S+(?::\S*)?@)?"
    r"(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})"
    r"(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])"
    r"|(?:(?:[A-Za-z0-9\u00a1-\uffff][A-Za-z0-9\u00a1-\uffff_-]{0,62})?[A-Za-z0-9\u00a1-\uffff]\.)+[LOWER]{2,63})"
    r"(?::\d{2,5})?(?:[/?#]\S*)?$"
)
PIECES = 1 << 16
"""Pieces of text whose words are kept: most of a text's pieces are among the frequent ones."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rules:
    """The rules in a form that is ready for use.

    Parameters
    ----------
    exceptions : mapping of str to tuple of str
        What a piece is divided into whatever the other rules say.
    prefix, suffix, infix, url : re.Pattern
        Marks at the start, at the end and within a piece; addresses, which stay whole.
    """

    exceptions: Mapping[str, Words]
    prefix: re.Pattern[str]
    suffix: re.Pattern[str]
    infix: re.Pattern[str]
    url: re.Pattern[str]


def words_of(text: str) -> Iterator[str]:
    """Iterate over the words and marks of an English text; blanks belong to none.

    Examples
    --------
    >>> list(words_of("It's great, don't you think? :)"))
    ['It', "'s", 'great', ',', 'do', "n't", 'you', 'think', '?', ':)']
    """
    for piece in text.split():
        yield from words_of_piece(piece)


@lru_cache(maxsize=PIECES)
def words_of_piece(piece: str) -> Words:
    """Return the words of a text without blanks.

    Notes
    -----
    Costs at most the square of the piece's length. The longest run of words that make up an exception is joined first,
    the first of equally long ones.
    """
    rules = english()
    if piece.isascii() and piece.isalpha() and piece not in rules.exceptions:
        return (piece,)  # as the rules below would say: they are about marks and numbers
    words = rules.exceptions.get(piece) or _divided(piece, rules, exceptions=rules.exceptions)
    patterns, longest = _joined()
    runs = sorted(
        (-length, start)
        for start in range(len(words))
        for length in range(1, min(longest, len(words) - start) + 1)
        if words[start : start + length] in patterns
    )
    taken: dict[int, tuple[int, Words]] = {}
    free = [True] * len(words)
    for negative, start in runs:
        run = range(start, start - negative)
        if free[run[0]] and free[run[-1]]:
            taken[start] = (len(run), rules.exceptions[patterns[words[run.start : run.stop]]])
        # Also where it was not joined: so does spaCy, which divides "a;):(" into "a", ";)", ":" and "(".
        for place in run:
            free[place] = False
    found: list[str] = []
    start = 0
    while start < len(words):
        length, replaced = taken.get(start, (1, (words[start],)))
        found.extend(replaced)
        start += length
    return tuple(found)


def _divided(piece: str, rules: Rules, *, exceptions: Mapping[str, Words]) -> Words:
    """Take a piece apart from both ends, then cut what is left at the marks within."""
    before: list[str] = []
    after: list[str] = []
    while piece and piece not in exceptions:
        first = rules.prefix.match(piece)
        start = first.end() if first else 0
        if start and piece[start:] in exceptions:
            before.append(piece[:start])
            piece = piece[start:]
            break
        last = rules.suffix.search(piece[start:])
        length = len(piece) - start - last.start() if last else 0
        if length and piece[:-length] in exceptions:
            after.append(piece[-length:])
            piece = piece[:-length]
            break
        if not start and not length:
            break
        if start:
            before.append(piece[:start])
        if length:
            after.append(piece[-length:])
        piece = piece[start : len(piece) - length]
    if piece in exceptions:
        before.extend(exceptions[piece])
    elif piece:
        before.extend([piece] if rules.url.match(piece) else _cut(piece, rules.infix))
    return (*before, *reversed(after))


def _cut(piece: str, infix: re.Pattern[str]) -> Iterator[str]:
    """Cut a piece at the marks within it; one at its very start stays with what follows."""
    offset = 0
    for mark in infix.finditer(piece):
        if mark.start() == 0:
            continue
        if piece[offset : mark.start()]:
            yield piece[offset : mark.start()]
        yield mark[0]
        offset = mark.end()
    if piece[offset:]:
        yield piece[offset:]


@lru_cache(maxsize=1)
def _joined() -> tuple[Mapping[Words, str], int]:
    """Exceptions by the words that the other rules would make of them, and the largest number of such words."""
    rules = english()
    marked = (rules.prefix.match, rules.infix.search, rules.suffix.search)
    patterns = {
        _divided(text, rules, exceptions={}): text
        for text in rules.exceptions
        if any(search(text) for search in marked)
    }
    return patterns, max(map(len, patterns))


@lru_cache(maxsize=1)
def english() -> Rules:
    """Return the rules; the first call makes them, in about 0.3 s."""
    cased, caseless = ({chr(code) for code in _codes(blocks)} for blocks in (_CASED, _CASELESS))
    letters = set(filter(str.isalpha, cased))
    lower = _class({letter for letter in letters if not letter.isupper()} | caseless)
    upper = _class({letter for letter in letters if not letter.islower()} | caseless)
    alpha = _class(letters | caseless)
    everything = map(chr, range(0xA0, sys.maxunicode + 1))
    icons = "[" + _class({sign for sign in everything if unicodedata.category(sign) == "So"}) + "]"
    quotes, punctuation = re.escape(_QUOTES), re.escape(_PUNCTUATION)
    marks = [*map(re.escape, (*_PUNCTUATION, "……"))]
    ends = [*marks, _ELLIPSES, *map(re.escape, _QUOTES)]
    currencies = [*map(re.escape, _CURRENCIES)]
    prefixes = ["§", "%", "=", "—", "–", r"\+(?![0-9])", *ends, *currencies, icons]
    suffixes = [
        *(*ends, icons, "'s", "'S", "’s", "’S", "—", "–", r"(?<=[0-9])\+", r"(?<=°[FfCcKk])\."),
        *(rf"(?<=[0-9])(?:{'|'.join(map(re.escape, units))})" for units in (_CURRENCIES, _UNITS.split())),
        rf"(?<=[0-9{lower}%²+|{punctuation}{quotes}-])\.",
        rf"(?<=[{upper}][{upper}])\.",
    ]
    infixes = [
        *(_ELLIPSES, icons, r"(?<=[0-9])[+*^-](?=[0-9-])", rf"(?<=[{lower}{quotes}])\.(?=[{upper}{quotes}])"),
        *(rf"(?<=[{alpha}]),(?=[{alpha}])", rf"(?<=[{alpha}0-9])(?:{_HYPHENS})(?=[{alpha}])"),
        rf"(?<=[{alpha}0-9])[:<>=/](?=[{alpha}])",
    ]
    return Rules(
        exceptions=_exceptions(),
        prefix=re.compile("|".join(prefixes)),
        suffix=re.compile("|".join(f"(?:{suffix})$" for suffix in suffixes)),
        infix=re.compile("|".join(infixes)),
        url=re.compile(_URL.replace("LOWER", lower)),
    )


def _exceptions() -> Mapping[str, Words]:
    """The pieces with a division of their own."""
    divided: list[Words] = [("i", "'m"), ("i", "m"), ("i", "'m", "a"), ("i", "m", "a")]
    for word in (*_PRONOUNS, *_QUESTIONS, "that", "this", "these", "those"):
        ends = ["'ll", "ll", "'ll 've", "ll ve", "'d", "d", "'d 've", "d ve"]
        ends += ["'ve", "ve"] if word not in ("he", "she", "it", "that", "this") else []
        ends += ["'re", "re"] if word not in ("i", "he", "she", "it", "that", "this") else []
        ends += ["'s", "s"] if word not in ("i", "you", "we", "they", "these", "those") else []
        divided += [(word, *end.split()) for end in ends]
    for verb in (_NEGATED + " " + _NEGATED_ALONE).split():
        divided += [(verb, "n't"), (verb, "nt")]
    for verb in _NEGATED.split():
        divided += [(verb, "n't", "'ve"), (verb, "nt", "ve")]
    for verb in ("could", "might", "must", "should", "would"):
        divided += [(verb, "'ve"), (verb, "ve")]
    divided += [(word,) for word in _ALONE.split()]
    divided += [(first.title() if first.isalpha() else first.capitalize(), *rest) for first, *rest in divided]
    divided += [(str(hour), half) for hour in range(1, 13) for half in ("a.m.", "am", "p.m.", "pm")]
    divided += [tuple(words.split()) for words in _DIVIDED.split("|")]
    divided += [("°", unit, ".") for unit in "cfkCFK"]
    divided += [(word,) for word in (_WHOLE + _EMOTICONS).split()]
    divided += [(f"{chr(letter)}.",) for letter in range(ord("a"), ord("z") + 1)]
    whole = {"".join(words): words for words in divided}
    for word in _WORDS_OF_THEIR_OWN.split():
        whole.pop(word, None)
        whole.pop(word.title(), None)
    curly = {
        text.replace("'", "’"): tuple(word.replace("'", "’") for word in words)
        for text, words in whole.items()
    }
    return curly | whole


def _codes(blocks: str) -> Iterator[int]:
    """Iterate over the characters of blocks."""
    for block in blocks.split():
        first, last = (int(end, 16) for end in block.split("-"))
        yield from range(first, last + 1)


def _class(characters: set[str]) -> str:
    """Return the inner part of a regular expression's class of characters, as ranges."""
    ranges: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08X}-\\U{last:08X}" for first, last in ranges)
