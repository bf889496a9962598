"""Who answered, how often each of them errs, and what their answers are worth."""
