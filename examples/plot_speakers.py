"""
Who is speaking?
================

An utterance is a set: a few dozen frames of sound, each described by twelve numbers. Vowels
differ more than voices do, so the mean of all frames tells mostly what was said. Which frames
there are, and how they vary, tells who said it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import dct
from scipy.signal import lfilter, stft

from setwise import CVC
from setwise.baselines import FrameVote, MeanCosine

# %%
# Speech is made as in a textbook: pulses at the pitch of the voice, through the resonances of a
# throat. A speaker has a pitch, a length of the throat, and habits of how vowels sound.
RATE = 8000
VOWELS = {"a": (730, 1090, 2440), "e": (530, 1840, 2480), "i": (270, 2290, 3010),
          "o": (570, 840, 2410), "u": (300, 870, 2240)}  # fmt: skip
rng = np.random.default_rng(6)
SPEAKERS = ["Ada", "Bo", "Cleo", "Dan", "Eve", "Finn"]
voices = [
    {
        "pitch": rng.uniform(95, 210),
        "throat": rng.uniform(0.9, 1.12),
        "habits": rng.normal(scale=0.03, size=(5, 3)),
        "breath": rng.uniform(0.002, 0.02),
    }
    for _ in SPEAKERS
]


def utterance(voice, rng, n_vowels=5):
    """Half a second of vowels in any order, said by one voice."""
    said = []
    for vowel in rng.integers(0, 5, size=n_vowels):
        n = int(RATE * rng.uniform(0.08, 0.14))
        pitch = voice["pitch"] * rng.uniform(0.9, 1.12)
        sound = (np.arange(n) % int(RATE / pitch) == 0) + voice["breath"] * rng.normal(size=n)
        resonances = np.array(list(VOWELS.values())[vowel]) * voice["throat"]
        for frequency in resonances * (1 + voice["habits"][vowel]):
            pole = 0.97 * np.exp(2j * np.pi * frequency / RATE)
            sound = lfilter([1.0], np.poly([pole, pole.conj()]), sound)
        said.append(sound / np.abs(sound).max())
    return np.concatenate(said)


def spectrum(sound):
    """Decibels, a row per frame."""
    _, _, parts = stft(sound, RATE, nperseg=256, noverlap=128)
    return 20 * np.log10(np.abs(parts.T) + 1e-4)


def frames(sound):
    """Twelve cepstral coefficients per frame, as speech is commonly described."""
    return dct(spectrum(sound), norm="ortho", axis=1)[:, 1:13]


# %%
# Ten utterances of each speaker are the gallery, five are asked about.
gallery = [utterance(voice, rng) for voice in voices for _ in range(10)]
asked = [utterance(voice, rng) for voice in voices for _ in range(5)]
labels, truth = np.repeat(SPEAKERS, 10), np.repeat(SPEAKERS, 5)
sets, probes = [frames(sound) for sound in gallery], [frames(sound) for sound in asked]

methods = {"CVC": CVC(random_state=0), "frame vote": FrameVote(), "mean cosine": MeanCosine()}
for name, method in methods.items():
    print(f"{name}: {method.fit(sets, labels).score(probes, truth):.0%} right")

# %%
# One utterance of each speaker, and what CVC says of it.
answers = methods["CVC"].judge(probes[::5])
fig, panels = plt.subplots(2, 3, figsize=(10, 4.6), layout="constrained", sharey=True)
for axes, sound, name, answer in zip(panels.flat, asked[::5], SPEAKERS, answers, strict=True):
    seconds = len(sound) / RATE
    axes.imshow(spectrum(sound).T, origin="lower", aspect="auto", cmap="magma",
                extent=(0, seconds, 0, RATE / 2000))  # fmt: skip
    colour = "#3f74b5" if answer.label == name else "#a83b22"
    said = f"{name} speaks: {answer.label}, {answer.probability:.2f}"
    axes.set_title(said, loc="left", fontsize=11, color=colour)
for axes in panels[:, 0]:
    axes.set_ylabel("kHz")
for axes in panels[-1]:
    axes.set_xlabel("seconds")
plt.show()
