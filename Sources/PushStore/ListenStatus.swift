internal import Synchronization

/// Whether notifications arrive, readable from every reactor; one listener writes it.
public final class ListenStatus: Sendable {
  private let flag = Atomic<Bool>(false)

  /// Nothing arrives yet.
  public init() {}

  /// Whether notifications arrive now.
  public internal(set) var isListening: Bool {
    get { flag.load(ordering: .relaxed) }
    set { flag.store(newValue, ordering: .relaxed) }
  }
}
