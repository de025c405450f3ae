internal import CLibcurl
internal import Reactors

/// The one owner of a multi handle, driven by a reactor. libcurl asks for descriptors to watch and a time, and is called then.
/// libcurl must not be called inside its callbacks. So the reactor acts on them in a later tick, even on a timer of 0 ms, and
/// finished transfers are collected after each call.
final class MultiHandle {
  private var pointer: UnsafeMutableRawPointer?
  private let reactor: Reactor
  private var transfers: [UnsafeMutableRawPointer: EasyHandle] = [:]
  private var watches: [curl_socket_t: SocketWatch] = [:]
  private var timer: TimerToken?
  weak var client: HTTPTransferClient?

  init(_ configuration: HTTPTransferConfiguration, on reactor: isolated Reactor) {
    precondition(Self.libraryIsReady, "libcurl cannot be initialized")
    guard let pointer = curl_multi_init() else { preconditionFailure("no memory for a multi handle") }
    self.pointer = pointer
    self.reactor = reactor
    let idleMax = configuration.idleConnectionsMax ?? configuration.transfersMax
    clibcurl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, idleMax)
    if let perHostMax = configuration.connectionsPerHostMax {
      clibcurl_multi_set_long(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, perHostMax)
    }
    setCallbacks(of: pointer)
  }

  deinit {
    // The callers of transfers keep this object, so only idle connections are left, which are not watched.
    clibcurl_multi_set_callbacks(pointer, nil, nil, nil)
    curl_multi_cleanup(pointer)
  }

  /// Once in a process, before anything else.
  private static let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  /// Begins a transfer, and keeps the handle until it ends or is removed.
  func add(_ easy: EasyHandle) {
    transfers[easy.pointer] = easy
    let code = curl_multi_add_handle(pointer, easy.pointer)
    precondition(code == CURLM_OK, "an easy handle cannot be added: \(code.rawValue)")
  }

  /// Cancels a transfer. Does nothing when it has ended.
  func remove(_ easy: EasyHandle) {
    guard transfers.removeValue(forKey: easy.pointer) != nil else { return }
    curl_multi_remove_handle(pointer, easy.pointer)
  }

  /// Closes idle connections and frees the handle, after all transfers were removed. Closing twice does nothing.
  func close(on reactor: isolated Reactor) {
    guard let pointer else { return }
    self.pointer = nil
    curl_multi_cleanup(pointer)
    for watch in watches.values { watch.stop(on: reactor) }
    watches = [:]
    setTimer(nil, on: reactor)
  }

  /// A descriptor is ready or, with `CURL_SOCKET_TIMEOUT`, the timer has fired.
  fileprivate func act(_ socket: curl_socket_t, _ events: Int32, on reactor: isolated Reactor) {
    guard let pointer else { return }
    var running: Int32 = 0
    let code = curl_multi_socket_action(pointer, socket, events, &running)
    precondition(code != CURLM_BAD_HANDLE && code != CURLM_RECURSIVE_API_CALL, "libcurl was called wrongly")
    collectEnded(on: reactor)
  }

  private func collectEnded(on reactor: isolated Reactor) {
    var left: Int32 = 0
    while let pointer, let message = curl_multi_info_read(pointer, &left) {
      // Removing the handle frees the message.
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      curl_multi_remove_handle(pointer, easy)
      if let easy = transfers.removeValue(forKey: easy) { client?.transferEnded(easy, code, on: reactor) }
    }
  }
}

// The C callbacks. Each recovers the multi handle, calls one method and returns.
extension MultiHandle {
  private func setCallbacks(of pointer: UnsafeMutableRawPointer) {
    // Not retained: `deinit` removes the callbacks.
    clibcurl_multi_set_callbacks(
      pointer,
      { _, socket, what, context, _ in
        multiHandle(context).interestChanged(of: socket, to: what)
        return 0
      },
      { _, milliseconds, context in
        multiHandle(context).timerChanged(to: milliseconds)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func interestChanged(of socket: curl_socket_t, to what: Int32) {
    // Safe: libcurl calls back inside calls from the reactor, which `assumeIsolated` checks.
    nonisolated(unsafe) let me = self
    reactor.assumeIsolated { me.watch(socket, what, on: $0) }
  }

  private func timerChanged(to milliseconds: Int) {
    // Safe: as above.
    nonisolated(unsafe) let me = self
    reactor.assumeIsolated { me.setTimer(milliseconds < 0 ? nil : .milliseconds(milliseconds), on: $0) }
  }

  private func watch(_ socket: curl_socket_t, _ what: Int32, on reactor: isolated Reactor) {
    guard what != CURL_POLL_REMOVE else {
      watches.removeValue(forKey: socket)?.stop(on: reactor)
      return
    }
    var interest: Interest = []
    if what & CURL_POLL_IN != 0 { interest.insert(.read) }
    if what & CURL_POLL_OUT != 0 { interest.insert(.write) }
    let watch = watches[socket] ?? SocketWatch(socket, of: self)
    watches[socket] = watch
    watch.follow(interest, on: reactor)
  }
}

/// The object that `setCallbacks` passed to libcurl. Not retained, because one of its methods calls libcurl.
private func multiHandle(_ context: UnsafeMutableRawPointer?) -> MultiHandle {
  Unmanaged<MultiHandle>.fromOpaque(context!).takeUnretainedValue()
}

// libcurl's timer.
extension MultiHandle: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard timer == self.timer else { return }
    self.timer = nil
    act(CURL_SOCKET_TIMEOUT, 0, on: reactor)
  }

  private func setTimer(_ delay: Duration?, on reactor: isolated Reactor) {
    reactor.cancel(&timer)
    timer = delay.map { reactor.schedule(after: $0, self) }
  }
}

/// One descriptor of libcurl, watched until libcurl closes it.
private final class SocketWatch: ReadinessHandler {
  private let socket: curl_socket_t
  private weak var multi: MultiHandle?
  private var registration: Registration?

  init(_ socket: curl_socket_t, of multi: MultiHandle) {
    self.socket = socket
    self.multi = multi
  }

  /// If the kernel refuses to watch the descriptor, the transfer ends at its deadline.
  func follow(_ interest: Interest, on reactor: isolated Reactor) {
    if let registration {
      try? reactor.update(registration, to: interest)
    } else {
      registration = try? reactor.register(socket, for: interest, handler: self)
    }
  }

  func stop(on reactor: isolated Reactor) { reactor.deregister(&registration) }

  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    var events: Int32 = 0
    if !readiness.isDisjoint(with: [.readable, .peerClosed]) { events |= CURL_CSELECT_IN }
    if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
    if !readiness.isDisjoint(with: [.hungUp, .failed]) { events |= CURL_CSELECT_ERR }
    multi?.act(socket, events, on: reactor)
  }
}
