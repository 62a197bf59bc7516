"""Uses a generated client in Python against a running service: its folder, the address and a token are the arguments."""

import sys

folder, url, token = sys.argv[1:]
sys.path.insert(0, folder)

from client import AuthenticatedClient  # noqa: E402
from client.api.documents import get_documents_document_id_download as download  # noqa: E402
from client.api.documents import get_documents_document_id_pages_page_png as show_page  # noqa: E402
from client.api.ingest import post_ingest_batch, post_ingest_file, post_ingest_text  # noqa: E402
from client.api.search import post_retrieve_chunks  # noqa: E402
from client.models import IngestBatch, IngestFile, IngestText, Search  # noqa: E402
from client.types import File  # noqa: E402

client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)

text = {"content": "A quire is a gathering of folded leaves.", "metadata": {"topic": "law", "year": 2026}}
made = post_ingest_text.sync(client=client, body=IngestText.from_dict(text))
outcomes = post_ingest_batch.sync(client=client, body=IngestBatch.from_dict({"documents": [text, text]}))
assert [outcome.status for outcome in outcomes] == ["completed", "completed"], outcomes

for filters in [
    {"topic": "law", "year": {"$gte": 2020}},
    {"topic": "law", "$or": [{"year": {"$in": [2026]}}, {"$not": {"year": {"$exists": True}}}]},
]:
    search = Search.from_dict({"query": "What is a quire?", "filters": filters, "k": 3})
    assert search.to_dict()["filters"] == filters, search
    found = post_retrieve_chunks.sync(client=client, body=search)
    assert str(made.external_id) in [chunk.document_id for chunk in found], found

with open("docs/tutorial/rain-gauge.pdf", "rb") as source:
    upload = IngestFile(file=File(payload=source, file_name="rain-gauge.pdf", mime_type="application/pdf"))
    document = post_ingest_file.sync(client=client, body=upload)
page = show_page.sync(document_id=str(document.external_id), page=1, client=client)
assert page.payload.read().startswith(b"\x89PNG"), page
assert download.sync(document_id=str(document.external_id), client=client).payload.read().startswith(b"%PDF")
print("used")
