"""A language model as a person: it answers a campaign's questions, and is measured like everybody.

Any server that speaks the usual chat completions will do, such as llama.cpp, Ollama or vLLM on this machine:

    export ASKONE_CHAT_URL=http://127.0.0.1:11434/v1 ASKONE_CHAT_MODEL=llama3.2
    askone answer CAMPAIGN --with language_model:answer --as "llama3.2"

in the directory of this file.  Its answers count as anybody's: known answers (gold) and other people's show how
often it is right (askone people CAMPAIGN), and askone replay CAMPAIGN --without llama3.2 what the model is without it.
"""

import base64
import json
import os
import urllib.request

URL = os.environ.get("ASKONE_CHAT_URL", "http://127.0.0.1:11434/v1")
MODEL = os.environ.get("ASKONE_CHAT_MODEL", "llama3.2")
KEY = os.environ.get("ASKONE_CHAT_KEY", "")
SECONDS = 120.0


def answer(question):
    """Return what the model says of a question (True, False or None), and how many tokens it took."""
    body = {
        "model": MODEL,
        "temperature": 0,
        "max_tokens": 16,
        "messages": [{"role": "user", "content": told(question)}],
    }
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {KEY}"} if KEY else {})
    request = urllib.request.Request(f"{URL.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        reply = json.load(response)
    said = reply["choices"][0]["message"]["content"] or ""
    return {"answer": understood(said, question.answers), "tokens": reply.get("usage", {}).get("total_tokens")}


def told(question):
    """Return the question in words, with its picture where it has one."""
    yes, no = question.answers
    row = "\n".join(f"{name}: {value}" for name, value in question.row.items())
    text = f"{row}\n\n{question.sentence}\nAnswer with one of these and nothing else: {yes} / {no} / cannot tell"
    picture = question.record.get("picture")
    if picture is None:
        return text
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    data = f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": data}}]


def understood(said, answers):
    """Return True or False where one of the answers was said and the other was not, else None: then it is skipped."""
    words = said.strip().strip(".!*\"'").lower()
    found = [
        words == one.lower() or words.startswith((f"{one.lower()} ", f"{one.lower()},", f"{one.lower()}."))
        for one in answers
    ]
    return None if found[0] == found[1] else found[0]


if __name__ == "__main__":
    print(__doc__)
