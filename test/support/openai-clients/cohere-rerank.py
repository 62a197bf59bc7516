# Programs rerank so with Cohere's client for Python.
import json
import sys

import cohere

base_url, api_key, query, *documents = sys.argv[1:]
client = cohere.ClientV2(api_key=api_key, base_url=base_url)
answer = client.rerank(model="rerank-v3.5", query=query, documents=documents, top_n=2)
try:
    client.rerank(model="rerank-v3.5", query=" ", documents=documents)
    failure = None
except cohere.core.ApiError as error:
    failure = {"status": error.status_code, "body": error.body}
print(json.dumps({"results": [each.model_dump() for each in answer.results], "failure": failure}))
