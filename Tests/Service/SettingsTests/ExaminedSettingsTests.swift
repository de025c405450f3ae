import Testing

@testable import Settings

@Suite("Settings that are looked at part by part")
struct ExaminedSettingsTests {
  @Test("what is usable is there though other parts are not")
  func parts() {
    let settings = ExaminedSettings(environment: ["DATABASE_URL": "host=/tmp", "JWT_SECRET": "short"])
    #expect(settings.database != nil)
    #expect(settings.apns == nil)
    #expect(settings.callers == nil)
    #expect(settings.problems.contains { $0.key == "WEBHOOK_SECRET" })
    #expect(settings.problems.contains { $0.key == "JWT_SECRET" })
  }

  @Test("names the variables of proxies, which nothing uses")
  func proxies() {
    let environment = [
      "HTTPS_PROXY": "http://proxy:3128", "all_proxy": "socks5://proxy", "https_proxy": "", "NO_PROXY": "x",
    ]
    #expect(ExaminedSettings(environment: environment).unusedProxies == ["HTTPS_PROXY", "all_proxy"])
    #expect(ExaminedSettings(environment: [:]).unusedProxies == [])
  }

  @Test("names the files with secrets, each once, those of sections too")
  func files() {
    let file = """
      APNS_PRIVATE_KEY_FILE=/a.p8
      TLS_KEY_FILE=/tls.pem
      [app com.example.one]
      APNS_PRIVATE_KEY_FILE=/b.p8
      [app com.example.two]
      APNS_PRIVATE_KEY_FILE=/a.p8
      """
    let settings = ExaminedSettings(environment: ["TACET_CONFIG": "/tacet.conf"]) { _ in Array(file.utf8) }
    #expect(settings.secretFiles.map(\.path) == ["/tacet.conf", "/a.p8", "/tls.pem", "/b.p8"])
    #expect(ExaminedSettings(environment: [:]).secretFiles == [])
  }
}
