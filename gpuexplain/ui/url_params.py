"""How do values from the address bar or the controls become params, and what is said of bad ones?"""

from collections.abc import Mapping
from typing import Any, TypeVar

from gpuexplain.asked import Reading, check_params
from gpuexplain.model import Params

P = TypeVar("P", bound=Params)


def read_params(params_type: type[P], given: Mapping[str, Any]) -> Reading[P]:
    """Return params from loose values (text from an URL, or what widgets hold).

    Empty values count as not given; unknown names belong to other parts of the page and are ignored. A bad
    value is left out, and ``problems`` says which field, which value and what is allowed.
    """
    fields = params_type.model_fields
    return check_params(params_type, {n: v for n, v in given.items() if n in fields and v not in (None, "")})
