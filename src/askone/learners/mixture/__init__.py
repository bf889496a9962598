"""What stands around the default learners on tables: models fitted to all answers, beside one that learns with each."""
