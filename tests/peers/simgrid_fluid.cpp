// The peer of the fluid simulation: the same silos, arcs and routes on SimGrid's actors and max-min solver.
//
// Build (Debian): apt-get install -y --no-install-recommends libsimgrid-dev libboost-dev g++
//                 g++ -O2 -std=c++17 simgrid_fluid.cpp -o simgrid_fluid -lsimgrid
// Run:   ./simgrid_fluid CASE.txt speed|dump --cfg=network/model:CM02 --cfg=network/crosstraffic:0
//          --cfg=network/TCP-gamma:0 --cfg=network/bandwidth-factor:1 --cfg=network/latency-factor:1
//          --cfg=network/weight-S:0 --log=root.thres:error
// 'speed' prints the wall time in seconds of the simulation alone; 'dump' prints t_i(k), one line per round.
//
// CASE.txt:  silos links arcs rounds overlap(0|1) rows
//            compute_s of each silo: one line for all rounds (rows = 1), or one line per round
//            capacity_bps latency_s fat_pipe(0|1), one line per link
//            source target tokens latency_s message_bits number_of_links link_index ...   , one line per arc
//            messages, -1 for one of each arc in each round
//            arc round_in_which_it_is_sent round_at_whose_end_it_is_awaited   , one line per message
//
// Propagation is added on arrival: the latency_s of an arc. Those of links only weigh messages, in inverse proportion to
// their sum over a route, and have no effect where all are 0. SimGrid lets a message wait for this sum before it takes
// any link, so that those sent after computing are handed over so much earlier; others must have latencies that are
// too small to matter.
// With crosstraffic every arc needs one back, whose route carries its acknowledgements.
// With a TCP-gamma no message is faster than TCP-gamma / (2 * this sum).
// Every arc needs a link of finite capacity, whole bits > 0, and a pair (source, target) of its own.
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  std::ifstream in(argv[1]);
  int silos, links, arcs, rounds, overlap, rows;
  in >> silos >> links >> arcs >> rounds >> overlap >> rows;
  std::vector<std::vector<double>> compute_s(rows, std::vector<double>(silos));
  for (auto& row : compute_s)
    for (auto& value : row) in >> value;

  auto* zone = sg4::create_full_zone("zone");
  std::vector<sg4::Host*> host(silos);
  std::vector<sg4::Link*> link(links);
  std::vector<double> link_latency_s(links);
  for (int i = 0; i < silos; i++) host[i] = zone->create_host("silo" + std::to_string(i), 1e9);
  for (int l = 0; l < links; l++) {
    double capacity_bps;
    int fat_pipe;
    in >> capacity_bps >> link_latency_s[l] >> fat_pipe;
    link[l] = zone->create_link("link" + std::to_string(l), capacity_bps)->set_latency(link_latency_s[l]);
    if (fat_pipe) link[l]->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
  }
  std::vector<int> source(arcs), target(arcs);
  std::vector<double> latency_s(arcs), lead_s(arcs, 0.0);
  std::vector<uint64_t> message_bits(arcs);
  std::vector<std::vector<int>> incoming(silos), after_computing(silos), after_start(silos);
  for (int a = 0; a < arcs; a++) {
    int tokens, hops;
    in >> source[a] >> target[a] >> tokens >> latency_s[a] >> message_bits[a] >> hops;
    std::vector<sg4::LinkInRoute> route;
    for (int h = 0, l; h < hops; h++) {
      in >> l;
      route.push_back(sg4::LinkInRoute(link[l]));
      lead_s[a] += link_latency_s[l];
    }
    zone->add_route(host[source[a]]->get_netpoint(), host[target[a]]->get_netpoint(), nullptr, nullptr, route, false);
    (tokens ? after_computing : after_start)[source[a]].push_back(a);
    incoming[target[a]].push_back(a);
  }
  // Of one arc, in the order in which they are sent.
  std::vector<std::vector<int>> awaited(arcs);
  std::vector<std::vector<char>> sends(arcs, std::vector<char>(rounds, 0)), awaits(sends);
  const auto plan = [&](int a, int sent_in, int awaited_in) {
    awaited[a].push_back(awaited_in);
    sends[a][sent_in] = awaits[a][awaited_in] = 1;
  };
  int messages;
  in >> messages;
  if (messages < 0)
    for (int a = 0; a < arcs; a++)
      for (int k = 0; k < rounds; k++) plan(a, k, k);
  for (int m = 0, a, sent_in, awaited_in; m < messages; m++) {
    in >> a >> sent_in >> awaited_in;
    plan(a, sent_in, awaited_in);
  }
  for (auto& out : after_computing)
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) { return lead_s[a] > lead_s[b]; });
  if (!in) return std::fprintf(stderr, "%s ends too early or holds no number where one belongs.\n", argv[1]), 2;
  zone->seal();

  std::vector<sg4::SemaphorePtr> ready(arcs), sent(arcs);
  std::vector<std::vector<double>> last_bit(arcs, std::vector<double>(rounds));
  for (int a = 0; a < arcs; a++) ready[a] = sg4::Semaphore::create(0), sent[a] = sg4::Semaphore::create(0);
  std::vector<std::vector<double>> start(silos, std::vector<double>(rounds + 1, 0.0));

  const auto send = [&](int a, int k) {
    sg4::Comm::sendto(host[source[a]], host[target[a]], message_bits[a]);
    last_bit[a][k] = sg4::Engine::get_clock();
    sent[a]->release();
  };
  for (int a = 0; a < arcs; a++)
    sg4::Actor::create("arc" + std::to_string(a), host[source[a]], [&, a] {
      for (int k : awaited[a]) {
        ready[a]->acquire();
        if (overlap)
          sg4::Actor::create("message", host[source[a]], [&, a, k] { send(a, k); });
        else
          send(a, k);
      }
    });
  for (int i = 0; i < silos; i++)
    sg4::Actor::create("silo" + std::to_string(i), host[i], [&, i] {
      for (int k = 0; k < rounds; k++) {
        const double computed_s = sg4::Engine::get_clock() + compute_s[rows == 1 ? 0 : k][i];
        for (int a : after_computing[i]) {
          if (!sends[a][k]) continue;
          sg4::this_actor::sleep_until(computed_s - lead_s[a]);
          ready[a]->release();
        }
        sg4::this_actor::sleep_until(computed_s);
        double all_in = 0;
        for (int a : incoming[i]) {
          if (!awaits[a][k]) continue;
          sent[a]->acquire();
          all_in = std::max(all_in, last_bit[a][k] + latency_s[a]);
        }
        if (all_in > sg4::Engine::get_clock()) sg4::this_actor::sleep_until(all_in);
        start[i][k + 1] = sg4::Engine::get_clock();
        for (int a : after_start[i])
          if (sends[a][k]) ready[a]->release();
      }
    });

  const auto began = std::chrono::steady_clock::now();
  engine.run();
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (argc > 2 && std::string(argv[2]) == "dump") {
    for (int k = 0; k <= rounds; k++, std::printf("\n"))
      for (int i = 0; i < silos; i++) std::printf("%.17g ", start[i][k]);
    return 0;
  }
  std::printf("%.6f\n", wall_s);
}
