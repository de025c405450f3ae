internal import Glibc

/// A descriptor kept back, to be given up for the moment in which a connection must be turned away although no descriptor
/// is left. Without it the connection would stay in the kernel's queue, and its peer would wait for nothing.
public final class DescriptorReserve {
  private var descriptor: Int32 = -1

  /// Takes a descriptor if there is one.
  public init() { refill() }

  deinit { release() }

  /// Frees the descriptor for the length of `body`, whose descriptor must be closed when it returns.
  ///
  /// Another thread may be quicker to take the free one; then the next call has none to free until one is closed.
  public func lend(_ body: () -> Void) {
    release()
    body()
    refill()
  }

  private func refill() { descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC) }

  private func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
