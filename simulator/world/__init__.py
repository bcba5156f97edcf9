"""Events on the network and at silos: background traffic, capacity traces, link failures, absences."""
