def write_page(*a):
    pass
