"""Work on people's files: in processes of its own, few at a time, with limits."""
