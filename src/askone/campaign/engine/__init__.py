"""What happens while people answer: commands in, one durable transaction for a batch of them, results out."""
