"""What a message lists of the names that exist."""

from topologies.errors import unknown_name


def test_few_names_are_all_listed_in_order():
    error = unknown_name("kind", "rings", ["star", "ring", "mst"], otherwise="a path", source="a.toml")

    assert (
        str(error)
        == "a.toml: kind(='rings') must be one of mst, ring, star or a path (did you mean 'ring'?)."
    )


def test_sixteen_names_are_all_listed():
    names = [f"n{k:02d}" for k in range(16)]

    assert str(unknown_name("name", "zzz", names)) == f"name(='zzz') must be one of {', '.join(names)}."


def test_of_many_names_the_nearest_and_the_first_are_listed():
    names = ["load", "first", *(f"Router {k}" for k in range(1000))]
    error = unknown_name("hub", "router_5", names, otherwise="an index")

    assert str(error).startswith(
        "hub(='router_5') must be one of 1002 names or an index (did you mean 'Router 5'?): Router 5, "
    )
    listed = str(error).partition("?): ")[2].removesuffix(", ...").split(", ")
    assert len(listed) == len(set(listed)) == 10
    assert {"load", "first", "Router 0"} < set(listed)


def test_many_names_with_none_near():
    names = [f"n{k}" for k in range(17)]

    assert str(unknown_name("name", "??", names)) == (
        f"name(='??') must be one of 17 names: {', '.join(names[:10])}, ..."
    )
