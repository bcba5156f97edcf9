"""What the tests of the searches of `best` share."""


def criterion_s(overlay, criterion):
    """The closed form that a criterion minimises."""
    forms = overlay.closed_forms
    return {
        "paper": forms.paper_s,
        "serialized": max(forms.paper_s, forms.serialized_s),
        "all": max(forms.paper_s, forms.serialized_s, forms.load_bound_s),
    }[criterion]
