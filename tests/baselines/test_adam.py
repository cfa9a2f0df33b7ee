import torch

from inctnp.baselines.adam import adam_step, no_moments


def test_steps_are_those_of_torch() -> None:
    start = {"a": torch.tensor([1.0, -2.0]).double(), "b": torch.tensor(0.5).double()}

    def loss(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
        return (parameters["a"] ** 4).sum() + torch.cosh(parameters["b"] * parameters["a"][0])

    theirs = {name: value.clone().requires_grad_() for name, value in start.items()}
    optimiser = torch.optim.Adam([{"params": [theirs["a"]], "lr": 0.1}, {"params": [theirs["b"]], "lr": 0.03}])
    ours, moments = start, no_moments(start)
    for _ in range(25):
        optimiser.zero_grad()
        loss(theirs).backward()
        optimiser.step()
        ours, moments = adam_step(loss, ours, moments, {"a": 0.1, "b": 0.03})
    for name in start:
        torch.testing.assert_close(ours[name], theirs[name].detach(), rtol=1e-10, atol=1e-12)
    assert start["a"].tolist() == [1.0, -2.0]
