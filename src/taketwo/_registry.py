"""What inspect_ai finds by name once taketwo is installed: importing a module registers it."""

from taketwo.agents import as_inspect as as_inspect
from taketwo.executions import task as task
from taketwo.models import gemini_video as gemini_video
from taketwo.models import llama as llama
from taketwo.models import provider as provider
from taketwo.models import vllm_video as vllm_video
