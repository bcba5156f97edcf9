"""The scenario whose events many tests describe."""

NETWORK = """
[network]
underlay = "gaia"
access = "1 Gbps"
[workload]
preset = "inaturalist"
[overlays]
kinds = ["ring", "mst"]
"""
