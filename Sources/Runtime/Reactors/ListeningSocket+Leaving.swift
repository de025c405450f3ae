internal import CLinux
internal import Glibc

extension ListeningSocket {
  /// Lets no new connection begin, while those already made, or being made, can still be accepted.
  ///
  /// Closing a TCP listener resets what waits in its queue, even when other sockets share its port (`SO_REUSEPORT`): the
  /// kernel has dealt each connection to one of them at its first segment, and moves none unless
  /// `net.ipv4.tcp_migrate_req` is set. A filter that drops first segments (SYN) keeps the queue from growing. Whoever is
  /// dropped comes again after a second (RFC 6298 section 2), when this socket is closed and another one is chosen.
  ///
  /// Accepted connections inherit the filter, which does not concern them: none of their segments is a SYN. Nothing happens
  /// to Unix sockets, whose callers wait in the queue alone.
  /// - Throws: ``SystemError``.
  public func refuseHandshakes() throws(SystemError) {
    guard !address.isUnix else { return }
    var program = Self.dropFirstSegments
    let code = program.withUnsafeMutableBufferPointer { instructions in
      var filter = sock_fprog(len: UInt16(instructions.count), filter: instructions.baseAddress)
      return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, socklen_t(MemoryLayout<sock_fprog>.size))
    }
    guard code == 0 else { throw SystemError(operation: "filter on \(address)", code: errno) }
  }

  /// For a TCP socket a filter sees the segment from its header on; the flags are the byte at 13, with ACK 0x10 and SYN 0x02
  /// (RFC 9293 section 3.1).
  private static var dropFirstSegments: [sock_filter] {
    let load = UInt16(BPF_LD | BPF_B | BPF_ABS)
    let and = UInt16(BPF_ALU | BPF_AND | BPF_K)
    let jumpIfEqual = UInt16(BPF_JMP | BPF_JEQ | BPF_K)
    let take = UInt16(BPF_RET | BPF_K)
    return [
      sock_filter(code: load, jt: 0, jf: 0, k: 13),
      sock_filter(code: and, jt: 0, jf: 0, k: 0x12),
      sock_filter(code: jumpIfEqual, jt: 0, jf: 1, k: 0x02),
      sock_filter(code: take, jt: 0, jf: 0, k: 0),
      sock_filter(code: take, jt: 0, jf: 0, k: .max),
    ]
  }
}
