/// Server faults waiting for their requests, in order.
///
/// Requests are counted over all connections: "let 100 pass, then break 3" means the same however they are spread.
public struct FaultScript: Sendable {
  /// A fault, the requests it lets pass first, and the requests it hits then.
  public struct Entry: Equatable, Sendable {
    /// What happens.
    public var fault: ServerFault
    /// Requests that pass unharmed before it.
    public var skip: Int
    /// Requests that it hits after that.
    public var times: Int
    /// Before this moment it neither counts nor hits; those behind it have their turn. Monotonic nanoseconds.
    public var notBefore: UInt64

    /// A fault for `times` requests, after `skip` have passed.
    public init(_ fault: ServerFault, skip: Int = 0, times: Int = 1, notBefore: UInt64 = 0) {
      self.fault = fault
      self.skip = skip
      self.times = times
      self.notBefore = notBefore
    }
  }

  /// Entries that may wait at once.
  public static let entriesMax = 10_000

  /// What is still to come, with what is left of each number.
  public private(set) var entries: [Entry] = []

  /// No faults.
  public init() {}

  /// Adds a fault after those that wait.
  /// - Returns: false when the script is full.
  @discardableResult
  public mutating func append(_ entry: Entry) -> Bool {
    guard entries.count < Self.entriesMax else { return false }
    if entry.times > 0 { entries.append(entry) }
    return true
  }

  /// Forgets what has not happened yet.
  public mutating func removeAll() {
    entries = []
  }

  /// The fault that the next request meets; nil lets it pass.
  mutating func next(now: UInt64) -> ServerFault? {
    guard let index = entries.firstIndex(where: { $0.notBefore <= now }) else { return nil }
    if entries[index].skip > 0 {
      entries[index].skip -= 1
      return nil
    }
    let fault = entries[index].fault
    entries[index].times -= 1
    if entries[index].times == 0 { entries.remove(at: index) }
    return fault
  }
}
