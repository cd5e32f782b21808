"""The benchmark harness of Viaduct: published experiments, reproduced in network namespaces."""
