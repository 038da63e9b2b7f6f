"""The default description is that of CVC."""

from dataclasses import replace

from setwise import CVC
from setwise.gallery.defaults import default_description


def test_it_is_the_description_of_cvc_but_for_the_seed():
    how = replace(CVC().describe(), seed=0)
    assert default_description().to_config() == how.to_config()
