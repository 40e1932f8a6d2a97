#!/usr/bin/env python3
"""Exports transformers from PyTorch and runs them through the execution provider, beside PyTorch.

    exported_models.py [--size small|base] [--models bert,llama] [--types float32,float16] [--keep FOLDER]

The weights are random, from a fixed seed. Of each model and type it prints the exporter, the nodes of the optimized
graph that run on the provider, those that do not, the error against PyTorch in FLOAT32 (the largest difference, as a
share of the largest value), the time of the first run, and milliseconds a run of the provider, of PyTorch on CUDA where
there is one, and of ONNX Runtime's own provider on the processor. The exit status is 1 if a model was not exported, not
run, or is wrong.

It needs torch, transformers, onnx, onnxscript, onnxruntime 1.24 or newer and dimple_onnxruntime.
"""

import argparse
import collections
import os
import sys
import tempfile
import time
import traceback
import warnings

import dimple_onnxruntime
import numpy
import onnxruntime
import torch
import transformers

WORDS = 128
PAST = 64
# Of the largest value of an output.
TOLERANCE = {"float32": 1e-4, "float16": 2e-2}

SIZES = {
    "small": {"hidden": 256, "layers": 4, "heads": 4},
    "base": {"hidden": 768, "layers": 12, "heads": 12},
}


class Exportable(torch.nn.Module):
    """A model with tensors as inputs and outputs, in the order of their names."""

    inputs = ()
    outputs = ()
    # Input name to {axis: name}.
    dynamic = {}

    def arguments(self):
        """One tensor an input, of the type of the weights where it is of floating point."""
        raise NotImplementedError


def text(batch, words):
    return torch.randint(0, 1000, (batch, words))


class Bert(Exportable):
    inputs = ("input_ids", "attention_mask")
    outputs = ("last_hidden_state", "pooler_output")
    dynamic = {name: {0: "batch", 1: "words"} for name in inputs}

    def __init__(self, size):
        super().__init__()
        self.model = transformers.BertModel(
            transformers.BertConfig(
                vocab_size=1000,
                hidden_size=size["hidden"],
                num_hidden_layers=size["layers"],
                num_attention_heads=size["heads"],
                intermediate_size=4 * size["hidden"],
            )
        )

    def arguments(self):
        mask = torch.ones(2, WORDS, dtype=torch.int64)
        mask[1, WORDS // 2 :] = 0
        return text(2, WORDS), mask

    def forward(self, input_ids, attention_mask):
        result = self.model(input_ids=input_ids, attention_mask=attention_mask)
        return result.last_hidden_state, result.pooler_output


class Vit(Exportable):
    inputs = ("pixel_values",)
    outputs = ("last_hidden_state",)

    def __init__(self, size):
        super().__init__()
        self.model = transformers.ViTModel(
            transformers.ViTConfig(
                hidden_size=size["hidden"],
                num_hidden_layers=size["layers"],
                num_attention_heads=size["heads"],
                intermediate_size=4 * size["hidden"],
            )
        )

    def arguments(self):
        return (torch.randn(1, 3, 224, 224),)

    def forward(self, pixel_values):
        return (self.model(pixel_values=pixel_values).last_hidden_state,)


class Clip(Exportable):
    inputs = ("input_ids", "pixel_values", "attention_mask")
    outputs = ("logits_per_image", "text_embeds", "image_embeds")

    def __init__(self, size):
        super().__init__()
        common = {
            "hidden_size": size["hidden"],
            "num_hidden_layers": size["layers"],
            "num_attention_heads": size["heads"],
            "intermediate_size": 4 * size["hidden"],
        }
        self.model = transformers.CLIPModel(
            transformers.CLIPConfig(
                text_config={**common, "vocab_size": 1000, "eos_token_id": 999},
                vision_config={**common, "image_size": 224, "patch_size": 32},
            )
        )

    def arguments(self):
        return text(2, 77), torch.randn(2, 3, 224, 224), torch.ones(2, 77, dtype=torch.int64)

    def forward(self, input_ids, pixel_values, attention_mask):
        result = self.model(input_ids=input_ids, pixel_values=pixel_values, attention_mask=attention_mask)
        return result.logits_per_image, result.text_embeds, result.image_embeds


def whisper_config(size):
    return transformers.WhisperConfig(
        vocab_size=1000,
        d_model=size["hidden"],
        encoder_layers=size["layers"],
        decoder_layers=size["layers"],
        encoder_attention_heads=size["heads"],
        decoder_attention_heads=size["heads"],
        encoder_ffn_dim=4 * size["hidden"],
        decoder_ffn_dim=4 * size["hidden"],
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )


class WhisperEncoder(Exportable):
    inputs = ("input_features",)
    outputs = ("last_hidden_state",)

    def __init__(self, size):
        super().__init__()
        self.model = transformers.WhisperModel(whisper_config(size)).encoder

    def arguments(self):
        return (torch.randn(1, 80, 3000),)

    def forward(self, input_features):
        return (self.model(input_features).last_hidden_state,)


class Cached(Exportable):
    """A step with a cache of keys and values, two tensors a layer."""

    def __init__(self, layers, heads, width):
        super().__init__()
        self.layers, self.heads, self.width = layers, heads, width
        names = [f"{kind}.{layer}" for layer in range(layers) for kind in ("key", "value")]
        self.past = tuple(f"past.{name}" for name in names)
        self.present = tuple(f"present.{name}" for name in names)

    def past_tensors(self, length):
        return tuple(torch.randn(1, self.heads, length, self.width) for _ in self.past)

    def cache_of(self, tensors):
        cache = transformers.DynamicCache()
        for layer in range(self.layers):
            cache.update(tensors[2 * layer], tensors[2 * layer + 1], layer)
        return cache

    def tensors_of(self, cache):
        # Versions of transformers differ in how a cache is read.
        if hasattr(cache, "layers"):
            return tuple(tensor for layer in cache.layers for tensor in (layer.keys, layer.values))
        return tuple(tensor for pair in zip(cache.key_cache, cache.value_cache) for tensor in pair)


class WhisperDecoder(Cached):
    def __init__(self, size):
        super().__init__(size["layers"], size["heads"], size["hidden"] // size["heads"])
        self.hidden = size["hidden"]
        self.model = transformers.WhisperForConditionalGeneration(whisper_config(size))
        self.inputs = ("decoder_input_ids", "encoder_hidden_states", *self.past)
        self.outputs = ("logits", *self.present)
        self.dynamic = {name: {2: "past"} for name in self.past}

    def arguments(self):
        return text(1, 1), torch.randn(1, 1500, self.hidden), *self.past_tensors(PAST)

    def forward(self, decoder_input_ids, encoder_hidden_states, *past):
        cache = transformers.EncoderDecoderCache(self.cache_of(past), transformers.DynamicCache())
        result = self.model.model.decoder(
            input_ids=decoder_input_ids,
            encoder_hidden_states=encoder_hidden_states,
            past_key_values=cache,
            use_cache=True,
        )
        return self.model.proj_out(result.last_hidden_state), *self.tensors_of(cache.self_attention_cache)


class Llama(Cached):
    words = 1

    def __init__(self, size):
        heads = size["heads"]
        super().__init__(size["layers"], heads // 2, size["hidden"] // heads)
        self.model = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                vocab_size=1000,
                hidden_size=size["hidden"],
                num_hidden_layers=size["layers"],
                num_attention_heads=heads,
                num_key_value_heads=heads // 2,
                intermediate_size=3 * size["hidden"],
                max_position_embeddings=2048,
            )
        )
        self.inputs = ("input_ids", *self.past)
        self.outputs = ("logits", *self.present)
        self.dynamic = {"input_ids": {1: "words"} if self.words > 1 else {}, **{name: {2: "past"} for name in self.past}}

    def arguments(self):
        return text(1, self.words), *self.past_tensors(PAST)

    def forward(self, input_ids, *past):
        cache = self.cache_of(past)
        result = self.model(input_ids=input_ids, past_key_values=cache, use_cache=True)
        return result.logits, *self.tensors_of(result.past_key_values)


class LlamaPrompt(Llama):
    words = 32


MODELS = {
    "bert": Bert,
    "vit": Vit,
    "clip": Clip,
    "whisper-encoder": WhisperEncoder,
    "whisper-decoder": WhisperDecoder,
    "llama": Llama,
    "llama-prompt": LlamaPrompt,
}


def export(model, arguments, path):
    """Writes the model; returns the exporter's name."""
    common = {"input_names": list(model.inputs), "output_names": list(model.outputs)}
    failures = []
    for name, options in (
        ("dynamo", {"dynamo": True, "dynamic_shapes": dynamic_shapes(model)}),
        ("torchscript", {"dynamo": False, "dynamic_axes": {k: v for k, v in model.dynamic.items() if v}, "opset_version": 18}),
    ):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.onnx.export(model, arguments, path, verbose=False, **common, **options)
            return name
        except Exception as error:  # whatever an exporter throws
            failures.append(f"{name}: {str(error).strip().splitlines()[0][:300]}")
    raise RuntimeError("; ".join(failures))


def dynamic_shapes(model):
    """What the dynamo exporter takes: a tuple, with one for the tensors that come as *past."""
    dims = {}
    shapes = []
    for name in model.inputs:
        axes = model.dynamic.get(name, {})
        shapes.append({axis: dims.setdefault(label, torch.export.Dim(label)) for axis, label in axes.items()} or None)
    if not isinstance(model, Cached):
        return tuple(shapes)
    first = len(model.inputs) - len(model.past)
    return (*shapes[:first], tuple(shapes[first:]))


def session_of(path, device):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if device:
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        options.add_provider_for_devices([device], {})
    return onnxruntime.InferenceSession(path, sess_options=options)


def coverage(session):
    """The number of nodes on the provider, and what operators run elsewhere."""
    taken, left = 0, collections.Counter()
    for graph in session.get_provider_graph_assignment_info():
        for node in graph.get_nodes():
            if graph.ep_name == dimple_onnxruntime.get_ep_name():
                taken += 1
            else:
                left[node.op_type] += 1
    return taken, left


def milliseconds(run, wait=lambda: None, seconds=1.0):
    for _ in range(3):
        run()
    wait()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return 1e3 * sorted(times)[len(times) // 2]


def bound_time(session, feeds):
    """Outputs stay on the device."""
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_cpu_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name, "gpu", 0)
    return milliseconds(lambda: session.run_with_iobinding(binding), binding.synchronize_outputs)


def torch_time(model, arguments):
    if not torch.cuda.is_available():
        return None
    model = model.cuda()
    arguments = [tensor.cuda() for tensor in arguments]
    with torch.inference_mode():
        return milliseconds(lambda: model(*arguments), torch.cuda.synchronize)


def show(time_of):
    try:
        value = time_of()
        return "-" if value is None else f"{value:.2f}"
    except Exception as error:
        return f"({str(error).splitlines()[0][:160]})"


def largest_error(results, expected):
    worst = 0.0
    for result, reference in zip(results, expected):
        if not numpy.isfinite(result).all():
            return float("inf")
        scale = numpy.abs(reference).max()
        worst = max(worst, numpy.abs(result.astype(numpy.float64) - reference).max() / max(scale, 1e-30))
    return worst


def check(name, kind, size, device, folder):
    """Whether the model is right."""
    torch.manual_seed(1)
    model = MODELS[name](SIZES[size]).eval()
    arguments = model.arguments()
    if kind == "float16":
        model = model.half()
        arguments = tuple(tensor.half() if tensor.is_floating_point() else tensor for tensor in arguments)
    path = os.path.join(folder, f"{name}-{size}-{kind}.onnx")
    exporter = export(model, arguments, path)
    with torch.inference_mode():
        reference = model.float()(*(t.float() if t.is_floating_point() else t for t in arguments))
    model = model.to(getattr(torch, kind))
    expected = [tensor.double().numpy() for tensor in reference]
    feeds = {key: tensor.numpy() for key, tensor in zip(model.inputs, arguments)}

    start = time.perf_counter()
    session = session_of(path, device)
    feeds = {entry.name: feeds[entry.name] for entry in session.get_inputs()}
    outputs = session.run(list(model.outputs), feeds)
    first = time.perf_counter() - start
    taken, left = coverage(session)
    error = largest_error(outputs, expected)
    right = error <= TOLERANCE[kind]
    print(
        f"{name} {kind} ({exporter}): {taken} of {taken + left.total()} nodes"
        + (f", without {', '.join(f'{count} {op}' for op, count in sorted(left.items()))}" if left else "")
        + f"; error {error:.1e}{'' if right else ' WRONG'}; first {first:.2f} s; "
        + f"ms: {milliseconds(lambda: session.run(None, feeds)):.2f}, bound {show(lambda: bound_time(session, feeds))}, "
        + f"torch {show(lambda: torch_time(model, arguments))}, "
        + f"processor {show(lambda: milliseconds(lambda: session_of(path, None).run(None, feeds), seconds=0.0)) if size == 'small' else '-'}",
        flush=True,
    )
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--types", default="float32,float16")
    parser.add_argument("--keep", help="folder for the exported models")
    options = parser.parse_args()
    devices = dimple_onnxruntime.register()
    if not devices:
        sys.exit("There is no Vulkan device. DIMPLE_ONNXRUNTIME_CPU=1 asks for drivers on the processor.")
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, onnxruntime {onnxruntime.__version__}; "
          f"{devices[0].ep_metadata['name']}")
    failed = False
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.models.split(","):
            for kind in options.types.split(","):
                try:
                    failed |= not check(name, kind, options.size, devices[0], options.keep or temporary)
                except Exception as error:
                    failed = True
                    print(f"{name} {kind}: FAILED: {error}", flush=True)
                    traceback.print_exc(limit=-3)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
