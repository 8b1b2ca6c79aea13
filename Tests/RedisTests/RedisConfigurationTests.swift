import Expectations
import Redis
import Testing
import Transport

@Suite struct RedisConfigurationTests {
    @Test(arguments: [
        ("redis://localhost", "redis://localhost:6379/0"),
        ("redis://localhost:6380/", "redis://localhost:6380/0"),
        ("REDISS://cache.example:1/15", "rediss://cache.example:1/15"),
        ("redis://:s3cr3t@10.0.0.1:6379/2", "redis://10.0.0.1:6379/2"),
        ("rediss://user:s3cr3t@[::1]:6380", "rediss://[::1]:6380/0"),
        ("redis://user:s3cr3t@x@host", "redis://host:6379/0"),
        ("redis://:s3cr3t@a:1,b,[::1]:3/2", "redis://a:1,b:6379,[::1]:3/2"),
    ])
    func readsURLs(url: String, expected: String) throws {
        let configuration = try RedisConfiguration(url: url)
        #expect(configuration.description == expected)
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(
            !"\(configuration) \(String(reflecting: configuration)) \(dumped)".contains("s3cr3t"))
    }

    @Test(arguments: [
        ("", "does not begin with redis://"), ("localhost:6379", "does not begin with redis://"),
        ("http://localhost", "begins with http://"),
        ("ftp://localhost", "does not begin with redis://"),
        ("redis:/localhost", "does not begin with redis://"),
        ("redis://", "has no host"), ("redis://:s3cr3t@", "has no host"),
        ("redis://:6379", "has no host"),
        ("redis:///0", "has no host"), ("redis://a,,b", "has no host"),
        ("redis://a,", "has no host"),
        ("redis://a,b:x", "has a port"),
        ("redis://host:", "has a port"), ("redis://host:0", "has a port"),
        ("redis://host:65536", "has a port"),
        ("redis://host:6379x", "has a port"), ("redis://host:99999999999999999999", "has a port"),
        ("redis://[::1]x", "has a port"), ("redis://[::1", "malformed address"),
        ("redis://[]", "malformed address"),
        ("redis://[fe80::1%25lo]", "malformed address"), ("redis://host/x", "database number"),
        ("redis://host/-1", "database number"),
        ("redis://host/99999999999999999999", "database number"),
        ("redis://host/0/1", "database number"), ("redis://host?s3cr3t", "has parameters"),
        ("redis://host?ssl=1", "parameter ssl; leave it out and begin the URL with rediss://"),
        ("rediss://h?ssl_cert_reqs=none", "set REDIS_TLS_VERIFY, as none"),
        ("redis://h?db=s3cr3t", "redis://host/1"),
        ("redis://h/0?timeout=s3cr3t", "has the parameter timeout; leave it out"),
        ("redis://h?password=s3cr3t", "write user and password before the host"),
        ("redis://:s3cr3t#s3cr3t@host", "has a # in its user name or password; write it as %23"),
        ("redis://:s3cr3t?s3cr3t=1@host", "write it as %3F"),
        ("redis://:s3cr3t/1@host", "write it as %2F"),
        ("redis+tls://:s3cr3t@h", "redis+tls://; write rediss://"),
        ("https://:s3cr3t@h", "Upstash"), ("redis-sentinel://:s3cr3t@h", "name the server itself"),
        ("redis://host/0#f", "has a # behind its host"), ("redis://ho st", "percent-encode"),
        ("redis://h\u{0}", "percent-encode"),
        ("redis://hóst", "percent-encode"), ("redis://:s3cr3t%@host", "percent-encoded"),
        ("redis://:s3cr3t%zz@host", "percent-encoded"), ("redis://:%ff@host", "percent-encoded"),
        ("redis://s3cr3t@host", "without a password"), ("redis://ho\"st", "character in its host"),
    ])
    func refusesWhatIsNoURL(url: String, problem: String) throws {
        let error = try #require(throws: RedisError.self) { try RedisConfiguration(url: url) }
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains(problem))
        #expect(error.message.hasPrefix("REDIS_URL "))
        #expect(!error.description.contains("s3cr3t"))
    }

    @Test func readsTheTLSSetting() throws {
        let pin = "sha256//b67Lj6BfbN3O/5/YE4/aj5zOWQ4D3FjX0tWurfGiH0k="
        try expect(RedisTLSVerification(parsing: "auto", isSelfSignedHost: false), equals: .full)
        try expect(RedisTLSVerification(parsing: "auto", isSelfSignedHost: true), equals: .firstUse)
        try expect(RedisTLSVerification(parsing: "full", isSelfSignedHost: true), equals: .full)
        try expect(RedisTLSVerification(parsing: "none", isSelfSignedHost: false), equals: .none)
        let expected = try #require(PublicKeyPin(pin))
        try expect(
            RedisTLSVerification(parsing: "pin:" + pin, isSelfSignedHost: false),
            equals: .pinned(expected))
        for text in ["", "yes", "pin", "pin:", "pin:/etc/passwd", "FULL"] {
            #expect(throws: RedisError.self) {
                try RedisTLSVerification(parsing: text, isSelfSignedHost: false)
            }
        }
    }

    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ])
    func namesScriptsBySHA1(source: String, digest: String) {
        #expect(RedisScript(source).digest == digest)
    }
}
