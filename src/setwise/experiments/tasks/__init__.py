"""What is done for each kind of work item, a file each."""
