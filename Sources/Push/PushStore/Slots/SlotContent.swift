package import PushRules

/// Which document of a slot campaign.
package struct ContentKey: Hashable, Sendable {
  /// The time of the day, as `0800`.
  package let slot: String
  /// The user; nil for a document of all users.
  package let userID: HostID?

  package init(slot: String, userID: HostID? = nil) {
    self.slot = slot
    self.userID = userID
  }
}

/// A fetch that this process has claimed. It is made once, or again by another process when this one dies.
package struct DueContent: Equatable, Sendable {
  package let key: ContentKey
  /// The day of the slot, as `2026-11-22`; of a document of all users, the latest of their days.
  package let fireDate: String
  /// The version of the stored document; nil without one from this URL, or when the host names none.
  package let etag: String?

  package init(key: ContentKey, fireDate: String, etag: String?) {
    self.key = key
    self.fireDate = fireDate
    self.etag = etag
  }
}

/// What a slot campaign has from its host.
package enum ContentOutcome: Equatable, Sendable {
  /// A JSON object of strings.
  case document(String)
  /// Nothing that may be used: `content_missing` before the first answer, `content_stale` when the last is too old.
  case unavailable(String)
}
