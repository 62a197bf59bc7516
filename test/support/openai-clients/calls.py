# The same as calls.mjs does, with OpenAI's client for Python.
import json
import sys

import openai

base_url, api_key, embedding_model = sys.argv[1:4]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
messages = [{"role": "user", "content": "How many steps has the tower of the town hall?"}]


def failure(call):
    try:
        call()
    except openai.APIStatusError as error:
        return {"status": error.status_code, "code": error.code, "message": error.message}
    return None


models = [model.id for model in client.models.list()]
whole = client.chat.completions.create(model="quire", messages=messages)
streamed = {"text": "", "annotations": 0, "usage": None, "choicesOfUsage": None}
stream = client.chat.completions.create(
    model="quire", messages=messages, stream=True, stream_options={"include_usage": True}
)
for chunk in stream:
    for choice in chunk.choices:
        streamed["text"] += choice.delta.content or ""
        streamed["annotations"] += len(getattr(choice.delta, "annotations", None) or [])
    if chunk.usage:
        streamed["usage"] = chunk.usage.model_dump(exclude_none=True)
        streamed["choicesOfUsage"] = len(chunk.choices)
texts = ["The tower has 294 steps.", "Trains run hourly."]
asked = client.embeddings.create(model=embedding_model, input=texts)
floats = client.embeddings.create(model=embedding_model, input=texts, encoding_format="float")
wrong = openai.OpenAI(base_url=base_url, api_key="wrong", max_retries=0)

print(
    json.dumps(
        {
            "models": models,
            "retrieved": client.models.retrieve("quire").id,
            "text": whole.choices[0].message.content,
            "annotations": [each.model_dump() for each in whole.choices[0].message.annotations],
            "usage": whole.usage.model_dump(exclude_none=True),
            "streamed": streamed,
            "vectors": [each.embedding for each in asked.data],
            "floats": [each.embedding for each in floats.data],
            "unknownModel": failure(lambda: client.chat.completions.create(model="gpt-5", messages=messages)),
            "unknownPath": failure(lambda: client.get("/nothing/here", cast_to=object)),
            "wrongKey": failure(lambda: wrong.models.list()),
        }
    )
)
