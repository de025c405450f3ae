internal import PushStore

/// Which parts of campaigns are left out of a look, because they have failed: each at first for no look, then for 1, 3, 7 and
/// so on, so that an audience that fails for everybody does not keep the database busy.
///
/// A value that counts looks, not time; looks have their own jitter.
struct CampaignRetries {
  /// What fails and is tried again apart from everything else.
  enum Part: Hashable {
    /// Reading where a campaign's audience lives.
    case audience(String)
    /// Noting the users of an hour; the campaign and the zone.
    case slot(String, String)

    static func slot(of slot: CampaignSlot) -> Part { .slot(slot.campaign, slot.timeZone) }
  }

  /// Ten minutes of looks: an hour is served for two.
  static let looksLeftOutMax = 31

  /// Parts that failed the last time, how often in a row, and how many looks are still to leave them out.
  private var failures: [Part: (count: Int, looksLeft: Int)] = [:]

  /// Begins a look. What was not tried again in ten minutes, such as an hour that is over, is forgotten.
  mutating func beginLook() {
    for part in failures.keys { failures[part]?.looksLeft -= 1 }
    failures = failures.filter { $0.value.looksLeft > -Self.looksLeftOutMax }
  }

  /// Whether this look is to leave it out.
  func leavesOut(_ part: Part) -> Bool { (failures[part]?.looksLeft ?? 0) > 0 }

  mutating func failed(_ part: Part) {
    let count = (failures[part]?.count ?? 0) + 1
    failures[part] = (count, min(1 << min(count - 1, 16), Self.looksLeftOutMax + 1))
  }

  mutating func succeeded(_ part: Part) { failures[part] = nil }
}
