"""Labels of nodes and sites as files hold them."""


def one_line(text: str) -> str:
    """A label that can be typed: without blanks around it, with one blank for line ends, tabs and blanks in a row.

    Parameters
    ----------
    text : str
        As a file holds it. Programs that draw networks break labels into lines, and files of the Internet Topology Zoo
        hold some with blanks around them.

    Returns
    -------
    str
        Empty where nothing else was there.

    Examples
    --------
    >>> one_line("  New\\n   York ")
    'New York'
    """
    return " ".join(text.split())
