internal import CLibcurl
internal import Reactors

/// The one owner of a multi handle, driven by a reactor: libcurl says which descriptors it wants watched and when it wants
/// to be called, and is called then.
///
/// libcurl must not be called from inside its callbacks. So what they ask for is done by the reactor in a later turn, also
/// a timer of 0 ms, and what has ended is collected after each call.
final class MultiHandle {
  private var pointer: UnsafeMutableRawPointer?
  private let reactor: Reactor
  private var transfers: [UnsafeMutableRawPointer: EasyHandle] = [:]
  private var watches: [curl_socket_t: SocketWatch] = [:]
  private var timer: TimerToken?

  /// Told of what has ended.
  weak var observer: (any MultiHandleObserver)?

  /// - Parameter idleConnectionsMax: connections kept open for the next transfer.
  init(idleConnectionsMax: Int, on reactor: isolated Reactor) {
    precondition(Self.libraryIsReady, "libcurl cannot be initialized")
    guard let pointer = curl_multi_init() else { preconditionFailure("no memory for a multi handle") }
    self.pointer = pointer
    self.reactor = reactor
    clibcurl_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, idleConnectionsMax)
    setCallbacks(of: pointer)
  }

  deinit {
    // Whoever waits for a transfer keeps this object, so nothing is left but idle connections, which nobody watches.
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

  /// Breaks a transfer off; no effect when it has ended.
  func remove(_ easy: EasyHandle) {
    guard transfers.removeValue(forKey: easy.pointer) != nil else { return }
    curl_multi_remove_handle(pointer, easy.pointer)
  }

  /// Closes idle connections and frees the handle; every transfer has been removed. Closing twice does nothing.
  func close(on reactor: isolated Reactor) {
    guard let pointer else { return }
    self.pointer = nil
    curl_multi_cleanup(pointer)
    for watch in watches.values { watch.stop(on: reactor) }
    watches = [:]
    setTimer(nil, on: reactor)
  }

  /// A descriptor is ready, or, with `CURL_SOCKET_TIMEOUT`, the time has come.
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
      // The message is gone with the handle's removal.
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      curl_multi_remove_handle(pointer, easy)
      if let easy = transfers.removeValue(forKey: easy) { observer?.transferEnded(easy, code, on: reactor) }
    }
  }
}

/// Told of transfers, on the reactor, outside all callbacks of libcurl.
protocol MultiHandleObserver: AnyObject {
  /// The transfer of this easy handle is over; the handle has been removed from the multi handle.
  func transferEnded(_ easy: EasyHandle, _ code: CURLcode, on reactor: isolated Reactor)
}

// The C callbacks: each recovers the multi handle, calls one method and returns.
extension MultiHandle {
  private func setCallbacks(of pointer: UnsafeMutableRawPointer) {
    // Not retained: `deinit` takes the callbacks back.
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
    // Safe: libcurl calls back inside the calls that are made on the reactor, which `assumeIsolated` checks.
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

/// The multi handle that `setCallbacks` gave to libcurl, not retained; it is the one whose method calls libcurl.
private func multiHandle(_ context: UnsafeMutableRawPointer?) -> MultiHandle {
  Unmanaged<MultiHandle>.fromOpaque(context!).takeUnretainedValue()
}

// The one time at which libcurl wants to be called.
extension MultiHandle: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard timer == self.timer else { return }
    self.timer = nil
    act(CURL_SOCKET_TIMEOUT, 0, on: reactor)
  }

  private func setTimer(_ delay: Duration?, on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = delay.map { reactor.schedule(after: $0, self) }
  }
}

/// One descriptor of libcurl's, watched until libcurl says that it closes it.
private final class SocketWatch: ReadinessHandler {
  private let socket: curl_socket_t
  private weak var multi: MultiHandle?
  private var registration: Registration?

  init(_ socket: curl_socket_t, of multi: MultiHandle) {
    self.socket = socket
    self.multi = multi
  }

  /// A descriptor that the kernel refuses to watch leaves its transfer to the deadline.
  func follow(_ interest: Interest, on reactor: isolated Reactor) {
    if let registration {
      try? reactor.update(registration, to: interest)
    } else {
      registration = try? reactor.register(socket, for: interest, handler: self)
    }
  }

  func stop(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
  }

  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    var events: Int32 = 0
    if readiness.contains(.readable) || readiness.contains(.peerClosed) { events |= CURL_CSELECT_IN }
    if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
    if readiness.contains(.hungUp) || readiness.contains(.failed) { events |= CURL_CSELECT_ERR }
    multi?.act(socket, events, on: reactor)
  }
}
