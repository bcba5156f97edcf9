"""Records how spaCy divides English text.

``python tests/peers/spacy_tokens.py > tests/training/data/spacy_tokens.json``

Needs spaCy, which nothing else here does. Its tokenizer for English is rules alone: no model is downloaded.
"""

import json
from itertools import cycle, product

PIECES = r"""
don't Don't DON'T dont can't Can't cannot won't shan't ain't isn't hasn't wouldn't've couldnt it's It's IT'S
I'm im Im I'ma ill I'll he'd she'd've they've you're y'all yall gonna wanna gotta let's c'mon how'd'y not've
that's thats there's what're who'll its were well Well hell shell shed id Id ID café naïve über Montréal señor
résumé Beyoncé São coeur Ångström groß dog's dogs' James' rock'n'roll goin' goin doin' lovin' nothin' 'em
'cause 'bout 'til o'clock O'Brien ma'am ol' good-bye well-known twenty-five -ish co- a--b a—b word–word — --
--- x-1 1-2 1-x 3*4 2+2 2+ +1 +44 C++ 2^8 so... so.... ..so wait… no..yes . .. ... end. end.Start end.start
End.start U.S. U.S.A. USA. OK. ok. e.g. i.e. a.m. p.m. Ph.D. Dr. Mr. St. Jan. Miss. vs. a. b. z. Z. 5. 5.5
3,000 3,5 a,b one,two one,2 x/y and/or w/o w/ a:b a=b a<b 12:30 5am 5 10pm 11a.m. 13pm 1st 2nd $5 5$ £3 3€
US$5 ¥100 20% %20 100m 10km 5kg 6lb 4GB 3G T20 60mph 90°F 30°c. ½ x² §5 #fail #1 @bob @bob's @_@ &amp a&b AT&T
R&B http://bit.ly/abc (http://x.y/z) http://t.co. www.foo.com foo.com Foo.Com foo.bar/baz?q=1 me@home.com
ftp://a.bc 192.168.0.1 8.8.8.8 :) :-) :)) :( :-( :'( :D :-D :P :p :/ :\ :| :o :O :3 ;) ;-) ;D =) =( =D =] (:
(-: <3 <33 </3 ^_^ -_- o_O O.o >.< T_T xD XD xd XDD 8) 8-) hi:) hi:D yes;) <3you love<3 :):) :):( ;):( ):( :)!
!:) (:) [:] great:-)! lol:P ... :/ a:/b ¯\(ツ)/¯ (*_*) (._.) hey! hey!! hey?! what?? "quoted" "it's" 'single'
'don't' ''double'' ``tick`` (paren) (a) [b] {c} <d> *star* _under_ __dunder__ ~tilde “curly” ‘curly’ don’t
it’s I’m dogs’ «fr» ¿que? ¡hola! ♥ ♥♥ love♥ ☺ © ™ ® • · … !… |. a|b \o/ \n / // * ** & && = == + ++ - < > ^ `
´ ' привет Привет. 日本語 ελλάδα ñ. é. a.É É.a ABc. aBC. x). x". "x." 'x'. x's' x'S X'S x’s $ $$ %% ## ** ?. !.
,, ;; :: (( )) (() 's 'S n't
("don't") a.m.! (e.g. $5k 5km -known one...two www.x.org/a-b (www.x.org) a;):( a:):) x
"""
SENTENCES = (
    "I don't think it's  great, do you?",
    "Awww, that's a bummer.  You shoulda got David Carr of Third Day to do it. ;D",
    "is upset that he can't update his Facebook... and might cry. Blah!",
    "no, it's not behaving at all. i'm mad. why am i here? because I can't see you all over there.",
    "cant fall asleep\tand im so tired\nugh",
    "the café (on 5th St.) isn't open 'til 5pm, so we'll go to Zoë's",
    "<3 you guys!!! can't wait :) :) :D ...see u @ 8:30pm",
    "could've Shouldve must've 1am 12p.m. 13am 0am",
    "Ma'am Doin O'clock A. z. {. `.",
    "",
    " ",
)


def recorded():
    """The tokens of pieces, of pieces between marks, and of sentences; blanks are left out."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    pieces = PIECES.split()
    marks = cycle(product(("(", '"', "...", ""), (")", "!!", "'s", ":)", ".")))
    between = [f"{left}{piece}{right}" for piece, (left, right) in zip(pieces, marks, strict=False)]
    texts = dict.fromkeys([*pieces, *between, *SENTENCES])
    tokens = {text: [token.text for token in tokenizer(text) if not token.is_space] for text in texts}
    return {
        "made": f"by tests/peers/spacy_tokens.py with spaCy {spacy.__version__}, spacy.blank('en').tokenizer",
        "tokens": tokens,
    }


if __name__ == "__main__":
    print(json.dumps(recorded(), ensure_ascii=False, indent=0))
