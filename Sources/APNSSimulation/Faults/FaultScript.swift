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

    /// A fault for `times` requests, after `skip` have passed.
    public init(_ fault: ServerFault, skip: Int = 0, times: Int = 1) {
      self.fault = fault
      self.skip = skip
      self.times = times
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
    entries.append(entry)
    return true
  }

  /// Forgets what has not happened yet.
  public mutating func removeAll() {
    entries = []
  }

  /// The fault that the next request meets; nil lets it pass.
  mutating func next() -> ServerFault? {
    while let entry = entries.first, entry.times <= 0 { entries.removeFirst() }
    guard let entry = entries.first else { return nil }
    if entry.skip > 0 {
      entries[0].skip -= 1
      return nil
    }
    entries[0].times -= 1
    return entry.fault
  }
}
