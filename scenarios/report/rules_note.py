"""What constant rates leave out of account of the rules of links."""

from topologies import Connectivity


def rules_notes(graph: Connectivity, sharing: str) -> list[str]:
    """One sentence where rates are those of Eq. 3, and links half-duplex or shared, or acknowledgements go back.

    Parameters
    ----------
    graph : Connectivity
    sharing : str
        Name of the sharing model.
    """
    if sharing != "equal" or not graph.rules.change_usage:
        return []
    return [
        "equal: the constant rates of Eq. 3 know no half-duplex links, access links that silos share, or "
        "acknowledgements, so that links may carry more than they can."
    ]
