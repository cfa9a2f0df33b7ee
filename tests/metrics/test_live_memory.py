import torch

from inctnp.metrics.live_memory import LiveMemory, fused, peak_bytes, plain

KB = 1024


def test_what_is_freed_no_longer_counts() -> None:
    def work() -> None:
        for _ in range(5):
            torch.zeros(KB, dtype=torch.uint8)

    assert peak_bytes(work) == KB


def test_what_is_kept_adds_up() -> None:
    assert peak_bytes(lambda: [torch.zeros(KB, dtype=torch.uint8) for _ in range(5)]) == 5 * KB


def test_views_and_what_was_there_before_are_free() -> None:
    before = torch.zeros(KB)

    def work() -> torch.Tensor:
        return before.view(2, -1)[:, :7].mT

    assert peak_bytes(work) == 0
    assert peak_bytes(lambda: before.add_(1)) == 0


def test_a_moment_counts_although_it_passes() -> None:
    with LiveMemory() as memory:
        kept = (torch.zeros(KB, dtype=torch.uint8) + 1).sum(dtype=torch.uint8)
    assert memory.peak == 2 * KB
    assert memory.live == kept.nbytes


def test_plain_attention_holds_its_scores_and_fused_does_not() -> None:
    query = torch.randn(1, 1, KB, 8)
    small, large = (
        peak_bytes(lambda: torch.nn.functional.scaled_dot_product_attention(query, query, query), a)
        for a in (fused, plain)
    )
    assert large >= 4 * KB * KB > 4 * small
