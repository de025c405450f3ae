package import TemporalReferences

/// One slot of one campaign on one local day: what a row is rendered for.
package struct SlotOccasion: Hashable, Sendable {
  package let campaign: String
  package let slot: SlotTime
  /// The slot's phase, such as `morning`; nil for a slot without one.
  package let phase: String?
  /// The local day of the slot. It does not depend on when the row is rendered.
  package let fireDate: CivilDay
  /// The user's wall-clock time when it fires, `HH:MM`. It differs from the slot only where a change of the offset
  /// skips the slot's time.
  package let localTime: String

  /// An occasion.
  /// - Parameter localTime: `HH:MM`; nil for the slot's time.
  package init(campaign: String, slot: SlotTime, phase: String?, fireDate: CivilDay, localTime: String? = nil) {
    self.campaign = campaign
    self.slot = slot
    self.phase = phase
    self.fireDate = fireDate
    self.localTime = localTime ?? slot.clockText
  }

  /// `<campaign>.<slot>.<fire_date>`: the local request's identifier and the push's collapse identifier. APNs takes 64
  /// bytes, so the campaign's name may have 48.
  package var identifier: String { "\(campaign).\(slot).\(fireDate.description)" }

  package var threadID: String { "\(campaign).\(fireDate.description)" }

  /// The names of its values. No pool's entry can have them.
  static let names: Set = ["date", "fire_date", "phase", "slot", "time"]

  /// The values of its tokens. They take precedence over all others, so `phase` hides other values even when it is nil.
  var values: [(name: String, value: String?)] {
    [
      ("date", fireDate.description), ("fire_date", fireDate.description), ("phase", phase),
      ("slot", slot.description), ("time", localTime),
    ]
  }
}
