"""What this machine has of what silosim needs, checked part by part, each in a process of its own."""
