"""What a person is told before the first question."""

from answered import answer, make
from askone.campaign.campaign import Campaign
from askone.server._campaign_service import CampaignService
from askone.store.open import open_store


def test_what_another_process_wrote_is_counted(tmp_path):
    mine, theirs = (open_store(str(tmp_path / "s.db")) for _ in range(2))
    make(mine)
    service = CampaignService(Campaign.open(mine, "c"))
    assert service.brief("ann").mine == 0
    answer(Campaign.open(theirs, "c"), 6)
    assert service.brief("ann").mine == 3
    mine.close()
    theirs.close()
