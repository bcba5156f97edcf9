"""What happens around a job: other traffic, capacities that change, links that fail, silos that are away."""
