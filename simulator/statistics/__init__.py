"""What a simulation shows: its steady state and how sure its cycle time is."""
