"""What a user wrote: scenarios, quantities with units, and errors in the words of the file."""
