"""What a person is told before the first question."""

from answered import answer, make
from askone.campaign.campaign import Campaign
from askone.server._campaign_view import Front
from askone.server.routes.annotators import _brief
from askone.store.open import open_store


def test_what_another_process_wrote_is_counted(tmp_path):
    mine, theirs = (open_store(str(tmp_path / "s.db")) for _ in range(2))
    make(mine)
    front = Front(Campaign.open(mine, "c"))
    assert _brief(front, "ann")["mine"] == 0
    answer(Campaign.open(theirs, "c"), 6)
    assert _brief(front, "ann")["mine"] == 3
    mine.close()
    theirs.close()
