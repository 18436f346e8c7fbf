"""The official `openai` package for Python as a caller: five rounds with a tool of its own, whole and streamed."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"], max_retries=0)
parameters = {"type": "object", "properties": {"command": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "bash", "parameters": parameters}}]


def loop():
    messages = [{"role": "user", "content": '@@loop 5 bash {"command":"touch ran-here"}'}]
    while True:
        answer = client.chat.completions.create(model="scripted-model", messages=messages, tools=tools)
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            with open(os.environ["MADE"], "a", encoding="utf-8") as made:
                made.write("x")
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "seen"})


def streamed():
    messages = [{"role": "user", "content": "@@echo streamed"}]
    stream = client.chat.completions.create(model="scripted-model", messages=messages, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


print(json.dumps([loop(), streamed()]))
