"""The engine of a campaign: commands in, one durable transaction for a batch of them, results out."""
