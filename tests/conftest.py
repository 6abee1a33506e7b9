import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # for `import reference`

settings.register_profile("dpgp", deadline=None, derandomize=True, print_blob=False)
settings.load_profile("dpgp")
