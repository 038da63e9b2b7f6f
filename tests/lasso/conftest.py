import numpy as np
import pytest
from tests.lasso.problems import FAMILIES


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def columns(family):
    return FAMILIES[family](np.random.default_rng(0))
