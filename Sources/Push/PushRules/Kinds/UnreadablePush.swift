internal import FoundationEssentials

/// Content that no kind of this program can read, such as that of a later version: nothing can be sent, and the ledger says so.
struct UnreadablePush: PushContent {
  static let name = "unreadable"

  let surfaceID: HostID?

  init(surfaceID: HostID?) { self.surfaceID = surfaceID }

  init(_ claimed: ClaimedContent) { surfaceID = claimed.surfaceID }

  func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    throw PushRequestError(.payloadEmpty, "the content cannot be read")
  }
}
