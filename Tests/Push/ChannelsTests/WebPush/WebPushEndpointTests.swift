import Testing

@testable import Channels

@Suite("Endpoints")
struct WebPushEndpointTests {
  private static let hosts = try! WebPushHosts(
    parsing: "fcm.googleapis.com, *.push.services.mozilla.com,*.push.apple.com , *.notify.windows.com, "
      + "127.0.0.1:8443, [::1]:8443, localhost:8443")

  private func code(_ text: String) -> WebPushError.Code? {
    do throws(WebPushError) {
      _ = try WebPushEndpoint(text, among: Self.hosts)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(
    "endpoints of the four services are accepted, and so is what the operator lists",
    arguments: [
      ("https://fcm.googleapis.com/fcm/send/dXr:APA91b_x-Y", "https://fcm.googleapis.com", "fcm.googleapis.com"),
      ("https://fcm.googleapis.com/wp/dXr:APA91b", "https://fcm.googleapis.com", "fcm.googleapis.com"),
      (
        "https://updates.push.services.mozilla.com/wpush/v2/gAAAA", "https://updates.push.services.mozilla.com",
        "push.services.mozilla.com"
      ),
      ("https://web.push.apple.com/QGuQyavXutnMH", "https://web.push.apple.com", "push.apple.com"),
      (
        "https://wns2-by3p.notify.windows.com/w/?token=BQYAAAC%2fx%3d%3D", "https://wns2-by3p.notify.windows.com",
        "notify.windows.com"
      ),
      ("https://a.b.notify.windows.com/x", "https://a.b.notify.windows.com", "notify.windows.com"),
      ("https://fcm.googleapis.com:443/fcm/send/x", "https://fcm.googleapis.com", "fcm.googleapis.com"),
      ("HTTPS://FCM.GoogleAPIs.com/Fcm/Send/X", "https://fcm.googleapis.com", "fcm.googleapis.com"),
      ("https://127.0.0.1:8443/push/sub-ok", "https://127.0.0.1:8443", "127.0.0.1"),
      ("https://[::1]:8443/push/sub-ok", "https://[::1]:8443", "[::1]"),
      ("https://localhost:8443/push/sub-ok", "https://localhost:8443", "localhost"),
      ("https://fcm.googleapis.com/?a=b@c:d", "https://fcm.googleapis.com", "fcm.googleapis.com"),
    ])
  func accepted(_ text: String, _ origin: String, _ route: String) throws {
    let endpoint = try WebPushEndpoint(text, among: Self.hosts)
    #expect(endpoint.origin == origin)
    #expect(endpoint.routeName == "web_push/" + route)
    #expect(Self.hosts.routeNames.contains(endpoint.routeName))
    // What follows the authority stays as it was.
    let path = text.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
    #expect(endpoint.url == origin + path)
  }

  @Test(
    "everything else is refused",
    arguments: [
      // Not https, and not a URL.
      ("", WebPushError.Code.endpointSchemeNotAllowed), ("fcm.googleapis.com/x", .endpointSchemeNotAllowed),
      ("http://fcm.googleapis.com/x", .endpointSchemeNotAllowed),
      ("ftp://fcm.googleapis.com/x", .endpointSchemeNotAllowed),
      ("file:///etc/passwd", .endpointSchemeNotAllowed), ("//fcm.googleapis.com/x", .endpointSchemeNotAllowed),
      ("https:/fcm.googleapis.com/x", .endpointSchemeNotAllowed),
      ("gopher://fcm.googleapis.com/x", .endpointSchemeNotAllowed),
      (" https://fcm.googleapis.com/x", .endpointMalformed), ("https://", .endpointMalformed),
      ("https:///x", .endpointMalformed),
      // Other hosts, and names that only look like a listed one.
      ("https://example.com/x", .endpointHostNotAllowed),
      ("https://evil-fcm.googleapis.com/x", .endpointHostNotAllowed),
      ("https://a.fcm.googleapis.com/x", .endpointHostNotAllowed),
      ("https://googleapis.com/x", .endpointHostNotAllowed),
      ("https://push.apple.com/x", .endpointHostNotAllowed), ("https://evilpush.apple.com/x", .endpointHostNotAllowed),
      ("https://fcm.googleapis.com.evil.example/x", .endpointHostNotAllowed),
      ("https://permanently-removed.invalid/fcm/send/x", .endpointHostNotAllowed),
      ("https://fcm.googleapis.com./x", .endpointMalformed), ("https://fcm..googleapis.com/x", .endpointMalformed),
      ("https://.push.apple.com/x", .endpointMalformed), ("https://*.push.apple.com/x", .endpointMalformed),
      ("https://-.push.apple.com/x", .endpointMalformed), ("https://a_b.push.apple.com/x", .endpointMalformed),
      // Ports.
      ("https://fcm.googleapis.com:80/x", .endpointHostNotAllowed),
      ("https://fcm.googleapis.com:8443/x", .endpointHostNotAllowed),
      ("https://fcm.googleapis.com:/x", .endpointMalformed), ("https://fcm.googleapis.com:0443/x", .endpointMalformed),
      ("https://fcm.googleapis.com:65979/x", .endpointMalformed),
      ("https://fcm.googleapis.com:-443/x", .endpointMalformed),
      ("https://fcm.googleapis.com:443:443/x", .endpointMalformed),
      // User information and fragments.
      ("https://user@fcm.googleapis.com/x", .endpointHasUserInformation),
      ("https://fcm.googleapis.com@evil.example/x", .endpointHasUserInformation),
      ("https://fcm.googleapis.com:443@127.0.0.1/x", .endpointHasUserInformation),
      ("https://fcm.googleapis.com#@evil.example/x", .endpointHasFragment),
      ("https://fcm.googleapis.com/x#y", .endpointHasFragment), ("https://fcm.googleapis.com/x#", .endpointHasFragment),
      // Addresses that are not listed, in every spelling.
      ("https://127.0.0.1/x", .endpointHostNotAllowed), ("https://127.0.0.1:8444/x", .endpointHostNotAllowed),
      ("https://127.0.0.2:8443/x", .endpointHostNotAllowed), ("https://10.0.0.1/x", .endpointHostNotAllowed),
      ("https://169.254.169.254/latest/meta-data", .endpointHostNotAllowed),
      ("https://[::1]/x", .endpointHostNotAllowed),
      ("https://[fd00::1]:8443/x", .endpointHostNotAllowed), ("https://2130706433:8443/x", .endpointMalformed),
      ("https://127.1:8443/x", .endpointMalformed), ("https://0x7f000001:8443/x", .endpointMalformed),
      ("https://017700000001:8443/x", .endpointMalformed), ("https://127.0.0.01:8443/x", .endpointMalformed),
      ("https://127.0.0.1.:8443/x", .endpointMalformed), ("https://[::ffff:127.0.0.1]:8443/x", .endpointMalformed),
      ("https://[0:0:0:0:0:0:0:1]:8443/x", .endpointMalformed), ("https://[::1%25lo]:8443/x", .endpointMalformed),
      ("https://[::1:8443/x", .endpointMalformed), ("https://::1/x", .endpointMalformed),
      ("https://[::1]8443/x", .endpointMalformed), ("https://[::1]@fcm.googleapis.com/x", .endpointHasUserInformation),
      // Escapes and other alphabets.
      ("https://fcm%2egoogleapis.com/x", .endpointMalformed),
      ("https://fcm.googleapis.com%2f@evil/x", .endpointHasUserInformation),
      ("https://fcm.googleapis.com%00.evil.example/x", .endpointMalformed),
      ("https://fcm。googleapis。com/x", .endpointMalformed), ("https://ｆcm.googleapis.com/x", .endpointMalformed),
      ("https://fcm.googleapіs.com/x", .endpointMalformed), ("https://fcm.googleapis.com/ä", .endpointMalformed),
      ("https://xn--fcm-5cd.googleapis.com/x", .endpointHostNotAllowed),
      ("https://fcm.googleapis.com\\@evil.example/x", .endpointMalformed),
      ("https:\\\\fcm.googleapis.com/x", .endpointMalformed),
      ("https://fcm.googleapis.com/x\r\nHost: evil", .endpointMalformed),
      ("https://fcm.googleapis.com/\0", .endpointMalformed),
      ("https://fcm.googleapis.com/\u{7F}", .endpointMalformed), ("https://fcm.goo\tgleapis.com/x", .endpointMalformed),
      ("https://fcm.googleapis.com/%", .endpointMalformed), ("https://fcm.googleapis.com/%4", .endpointMalformed),
      ("https://fcm.googleapis.com/%zz", .endpointMalformed), ("https://fcm.googleapis.com/%+1", .endpointMalformed),
      ("https://fcm.googleapis.com/%0d%0aX:y", .endpointMalformed),
      ("https://fcm.googleapis.com/%7F", .endpointMalformed),
      // Paths.
      ("https://fcm.googleapis.com", .endpointMalformed), ("https://fcm.googleapis.com/", .endpointMalformed),
      ("https://fcm.googleapis.com?x=/y", .endpointMalformed),
      ("https://fcm.googleapis.com/a/../b", .endpointMalformed),
      ("https://fcm.googleapis.com/a/%2E%2e/b", .endpointMalformed),
      ("https://fcm.googleapis.com/./b", .endpointMalformed),
      ("https://fcm.googleapis.com/a/..", .endpointMalformed), ("https://fcm.googleapis.com/{a}", .endpointMalformed),
    ])
  func refused(_ text: String, _ expected: WebPushError.Code) {
    #expect(code(text) == expected)
  }

  @Test("an endpoint of 1024 bytes is accepted, and a longer one of any characters is not")
  func lengths() {
    let start = "https://fcm.googleapis.com/"
    #expect(code(start + String(repeating: "a", count: 1024 - start.count)) == nil)
    #expect(code(start + String(repeating: "a", count: 1025 - start.count)) == .endpointTooLong)
    #expect(code(start + String(repeating: "\u{301}", count: 1_000_000)) == .endpointTooLong)
    #expect(code("https://" + String(repeating: "a.", count: 127) + "push.apple.com/x") == .endpointMalformed)
    #expect(code("https://" + String(repeating: "a", count: 64) + ".push.apple.com/x") == .endpointMalformed)
    #expect(code("https://" + String(repeating: "a", count: 63) + ".push.apple.com/x") == nil)
  }

  @Test("an endpoint cut anywhere is refused or goes to the same host")
  func cuts() {
    let whole = "https://wns2-by3p.notify.windows.com:443/w/?token=BQYAAAC%2fx%3d%3D"
    for count in 0..<whole.count {
      let endpoint = try? WebPushEndpoint(String(whole.prefix(count)), among: Self.hosts)
      #expect(endpoint == nil || endpoint?.origin == "https://wns2-by3p.notify.windows.com", "after \(count)")
    }
  }

  @Test("errors quote nothing of the endpoint")
  func silence() {
    for text in [
      "https://secret.example/secret", "https://secret@fcm.googleapis.com/", "https://fcm.googleapis.com/secret#",
    ] {
      #expect { try WebPushEndpoint(text, among: Self.hosts) } throws: { !"\($0)".contains("secret") }
    }
  }
}

@Suite("The list of hosts")
struct WebPushHostsTests {
  @Test(
    "what is not a host is refused",
    arguments: [
      "", ",", "fcm.googleapis.com,", "*", "*.", "*.com", "a.*.com", "*.127.0.0.1", "https://a.example", "a.example/x",
      "a b.example", "a.example:", "a.example:0", "a.example:65536", "::1", "[::1", "127.1", "a.example.", "ä.example",
      String(repeating: "a.example,", count: 64) + "a.example",
    ])
  func refused(_ text: String) {
    #expect { try WebPushHosts(parsing: text) } throws: { ($0 as? WebPushError)?.code == .hostPatternMalformed }
  }

  @Test("the standard list is what its text says, in either case")
  func standard() throws {
    let text =
      "FCM.googleapis.com, JMT17.google.com, *.push.services.mozilla.com, *.push.apple.com, *.notify.windows.com:443"
    #expect(try WebPushHosts(parsing: text) == .standard)
    #expect(
      WebPushHosts.standard.routeNames == [
        "web_push/fcm.googleapis.com", "web_push/jmt17.google.com", "web_push/push.services.mozilla.com",
        "web_push/push.apple.com", "web_push/notify.windows.com",
      ])
  }

  @Test("sixty-four items are accepted")
  func many() throws {
    let text = (0..<64).map { "h\($0).example" }.joined(separator: ",")
    #expect(try WebPushHosts(parsing: text).routeNames.count == 64)
  }
}
