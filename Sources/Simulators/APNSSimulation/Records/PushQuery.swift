/// Which records of the log are wanted: all conditions hold together, nil leaves one open.
public struct PushQuery: Equatable, Sendable {
  /// Records with a higher number than this.
  public var after = 0
  /// The device token, in either case.
  public var token: String?
  /// The collapse identifier.
  public var collapseID: String?
  /// The `apns-id`, in either case.
  public var identifier: String?
  /// Records at most.
  public var limit = PushQuery.limitDefault

  /// Enough for a script, and under a megabyte with ordinary payloads.
  public static let limitDefault = 1000
  /// 10,000 records of full size are 50 MB of JSON; more are fetched page by page.
  public static let limitMax = 10_000

  /// Every record, as many as a page holds.
  public init() {}

  func matches(_ record: PushRecord) -> Bool {
    if let token, record.token.lowercased() != token.lowercased() { return false }
    if let collapseID, record.collapseID != collapseID { return false }
    if let identifier, record.identifier.lowercased() != identifier.lowercased() { return false }
    return true
  }
}
